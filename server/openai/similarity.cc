#include "server/openai/similarity.h"

#include <memory>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/answer.h"
#include "server/service/labels.h"
#include "server/service/methods.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

template <class Request>
std::unique_ptr<Request> NewRequest(const TextPairs& pairs) {
  auto request = std::make_unique<Request>();
  request->set_model(pairs.model);
  request->set_truncate(pairs.truncate);
  if constexpr (requires { request->set_raw_scores(true); }) {
    request->set_raw_scores(true);  // Scores() makes the others of them
  }
  return request;
}

template <class Response>
PairScores NewScores(const Response& response) {
  PairScores out{.model = response.model(), .raw = {}, .scores = {}};
  for (const auto& result : response.results()) {
    out.tokens += result.usage().source_tokens();
  }
  return out;
}

PairScores ScoresOf(const v1::RerankResponse& response) {
  PairScores out = NewScores(response);
  out.raw.resize(response.results_size());
  for (const v1::RerankResult& result : response.results()) {
    out.raw[result.index()] = result.score();
  }
  return out;
}

PairScores ScoresOf(const v1::ClassifyResponse& response) {
  PairScores out = NewScores(response);
  for (const v1::ClassifyResult& result : response.results()) {
    out.raw.push_back(result.labels(0).score());
  }
  return out;
}

// Of `first` texts and those behind them.
PairScores ScoresOf(const v1::EmbedResponse& response, int first) {
  PairScores out = NewScores(response);
  for (int i = 0; first + i < response.results_size(); ++i) {
    const auto& a = response.results(first == 1 ? 0 : i).values();
    const auto& b = response.results(first + i).values();
    out.raw.push_back(std::inner_product(a.begin(), a.end(), b.begin(), 0.f));
  }
  return out;
}

}  // namespace

std::string FieldTexts::NameOf(size_t index) const {
  return is_list ? absl::StrCat(name, "[", index, "]") : name;
}

absl::StatusOr<HandledRequest> Similarity::Request(TextPairs pairs,
                                                   const Service& service,
                                                   CallContext& context) {
  pairs_ = std::move(pairs);
  ASSIGN_OR_RETURN(const ServedModel* model,
                   service.Find(pairs_.model, context));
  const ModelInfo& info = model->info();
  const bool compares = !LabelsPairs(info) && !info.pools &&
                        info.token_vectors.width > 0 &&
                        pairs_.first.texts.size() == 1;
  if (!LabelsPairs(info) && !compares && (!info.embeds || !info.pools)) {
    return FieldError("model", absl::StrCat("is '", info.name,
                                            "', which neither scores pairs of "
                                            "texts nor embeds"));
  }
  way_ = compares                         ? Way::kRerank
         : !LabelsPairs(info)             ? Way::kEmbed
         : pairs_.first.texts.size() == 1 ? Way::kRerank
                                          : Way::kClassify;
  const bool raw = pairs_.raw_scores || way_ == Way::kEmbed || compares;
  kind_ = raw ? LabelScores::kRaw : info.pair_scores;
  RETURN_IF_ERROR(CheckCount(service));
  switch (way_) {
    case Way::kRerank:
      return RerankRequest();
    case Way::kClassify:
      return ClassifyRequest();
    case Way::kEmbed:
      break;
  }
  return EmbedRequest();
}

absl::Status Similarity::CheckCount(const Service& service) const {
  const int first = static_cast<int>(pairs_.first.texts.size());
  const int second = static_cast<int>(pairs_.second.texts.size());
  RETURN_IF_ERROR(service.CheckManyInputs(pairs_.second.name, second));
  if (way_ != Way::kEmbed || first + second <= service.max_many_inputs()) {
    return absl::OkStatus();
  }
  return FieldError(
      pairs_.second.name,
      absl::StrCat("has ", second, " texts, and ", pairs_.first.name, " ",
                   first, ": must be at most ", service.max_many_inputs(),
                   " together (max_call_bytes)"));
}

HandledRequest Similarity::RerankRequest() {
  auto request = NewRequest<v1::RerankRequest>(pairs_);
  request->set_query(std::move(pairs_.first.texts.front()));
  for (std::string& text : pairs_.second.texts) {
    request->add_documents(std::move(text));
  }
  return {NewRerankHandler, std::move(request)};
}

HandledRequest Similarity::ClassifyRequest() {
  auto request = NewRequest<v1::ClassifyRequest>(pairs_);
  for (size_t i = 0; i < pairs_.second.texts.size(); ++i) {
    v1::Input& input = *request->add_inputs();
    input.set_text(std::move(pairs_.first.texts[i]));
    input.set_pair(std::move(pairs_.second.texts[i]));
  }
  return {NewClassifyHandler, std::move(request)};
}

HandledRequest Similarity::EmbedRequest() {
  auto request = NewRequest<v1::EmbedRequest>(pairs_);
  request->set_normalize(true);
  for (FieldTexts* list : {&pairs_.first, &pairs_.second}) {
    for (std::string& text : list->texts) {
      request->add_inputs()->set_text(std::move(text));
    }
  }
  return {NewEmbedHandler, std::move(request)};
}

Similarity::Names Similarity::NamesOf(size_t input) const {
  const size_t first = pairs_.first.texts.size();
  const std::string id = absl::StrCat("inputs[", input, "]");
  switch (way_) {
    case Way::kRerank: {
      // The text of a pair is the query, but the document makes it too long.
      const std::string pair = absl::StrCat("documents[", input, "]");
      const std::string document = pairs_.second.NameOf(input);
      return {{absl::StrCat(pair, ".text"), document},
              {absl::StrCat(pair, ".pair"), document},
              {pair, document},
              {"query", pairs_.first.NameOf(0)}};
    }
    case Way::kClassify:
      return {{absl::StrCat(id, ".text"), pairs_.first.NameOf(input)},
              {absl::StrCat(id, ".pair"), pairs_.second.NameOf(input)},
              {id, pairs_.second.NameOf(input)}};
    case Way::kEmbed:
      break;
  }
  const std::string name = input < first ? pairs_.first.NameOf(input)
                                         : pairs_.second.NameOf(input - first);
  return {{absl::StrCat(id, ".text"), name}, {id, name}};
}

absl::Status Similarity::Rename(const absl::Status& status,
                                size_t input) const {
  const Names names = NamesOf(input);
  const std::vector<std::pair<absl::string_view, absl::string_view>> views(
      names.begin(), names.end());
  return RenameFields(status, views);
}

template <class Response>
absl::Status Similarity::FirstFailure(const Response& response) const {
  for (int i = 0; i < response.results_size(); ++i) {
    const auto& result = response.results(i);
    if (result.status().code() == 0) continue;
    size_t input = i;
    if constexpr (requires { result.index(); }) input = result.index();
    return Rename(FailureOf(result.status()), input);
  }
  return absl::OkStatus();
}

absl::StatusOr<PairScores> Similarity::Scores(
    const google::protobuf::Message& answer) const {
  const auto read = [&](const auto& response,
                        auto... more) -> absl::StatusOr<PairScores> {
    RETURN_IF_ERROR(FirstFailure(response));
    PairScores scores = ScoresOf(response, more...);
    scores.scores = scores.raw;
    for (float& score : scores.scores) {
      ScoreLabels(kind_, absl::MakeSpan(&score, 1));
    }
    return scores;
  };
  switch (way_) {
    case Way::kRerank:
      return read(static_cast<const v1::RerankResponse&>(answer));
    case Way::kClassify:
      return read(static_cast<const v1::ClassifyResponse&>(answer));
    case Way::kEmbed:
      break;
  }
  return read(static_cast<const v1::EmbedResponse&>(answer),
              static_cast<int>(pairs_.first.texts.size()));
}

}  // namespace attend
