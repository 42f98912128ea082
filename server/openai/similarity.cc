#include "server/openai/similarity.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/answer.h"
#include "server/service/methods.h"

namespace attend {
namespace {

// INVALID_ARGUMENT or another status of one of the results.
template <class Response>
absl::Status FirstFailure(const Response& response) {
  for (const auto& result : response.results()) {
    if (result.status().code() != 0) return FailureOf(result.status());
  }
  return absl::OkStatus();
}

PairScores ScoresOf(const v1::ClassifyResponse& response) {
  PairScores out{.model = response.model(), .scores = {}};
  for (const v1::ClassifyResult& result : response.results()) {
    out.scores.push_back(result.labels(0).score());
    out.tokens += result.usage().source_tokens();
  }
  return out;
}

}  // namespace

absl::StatusOr<HandledRequest> Similarity::Request(TextPairs pairs,
                                                   const Service& service,
                                                   CallContext& context) {
  ASSIGN_OR_RETURN(const ServedModel* model,
                   service.Find(pairs.model, context));
  const ModelInfo& info = model->info();
  if (info.classifies && !info.labels_tokens && info.labels.size() == 1) {
    return ClassifyRequest(std::move(pairs));
  }
  if (info.embeds) return EmbedRequest(std::move(pairs));
  return FieldError("model", absl::StrCat("is '", info.name,
                                          "', which neither scores pairs of "
                                          "texts nor embeds"));
}

HandledRequest Similarity::ClassifyRequest(TextPairs pairs) const {
  auto request = std::make_unique<v1::ClassifyRequest>();
  request->set_model(pairs.model);
  request->set_truncate(pairs.truncate);
  for (size_t i = 0; i < pairs.size(); ++i) {
    v1::Input& input = *request->add_inputs();
    input.set_text(pairs.first[pairs.first.size() == 1 ? 0 : i]);
    input.set_pair(std::move(pairs.second[i]));
  }
  return {NewClassifyHandler, std::move(request)};
}

HandledRequest Similarity::EmbedRequest(TextPairs pairs) {
  embeds_ = true;
  first_ = pairs.first.size();
  second_ = pairs.second.size();
  auto request = std::make_unique<v1::EmbedRequest>();
  request->set_model(pairs.model);
  request->set_truncate(pairs.truncate);
  request->set_normalize(true);
  for (auto* texts : {&pairs.first, &pairs.second}) {
    for (std::string& text : *texts) {
      request->add_inputs()->set_text(std::move(text));
    }
  }
  return {NewEmbedHandler, std::move(request)};
}

absl::StatusOr<PairScores> Similarity::Scores(
    const google::protobuf::Message& answer) const {
  if (!embeds_) {
    const auto& response = static_cast<const v1::ClassifyResponse&>(answer);
    RETURN_IF_ERROR(FirstFailure(response));
    return ScoresOf(response);
  }
  const auto& response = static_cast<const v1::EmbedResponse&>(answer);
  RETURN_IF_ERROR(FirstFailure(response));
  PairScores out{.model = response.model(), .scores = {}};
  for (const v1::EmbedResult& result : response.results()) {
    out.tokens += result.usage().source_tokens();
  }
  for (size_t i = 0; i < second_; ++i) {
    const auto& a = response.results(first_ == 1 ? 0 : i).values();
    const auto& b = response.results(first_ + i).values();
    out.scores.push_back(
        std::inner_product(a.begin(), a.end(), b.begin(), 0.f));
  }
  return out;
}

}  // namespace attend
