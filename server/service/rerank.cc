#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/labels.h"
#include "server/service/methods.h"
#include "server/service/request_fields.h"
#include "server/service/source.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

// Rerank: orders documents by the score that a cross-encoder gives to the pair
// of the query and a document.
class RerankHandler final
    : public BatchHandler<v1::RerankRequest, v1::RerankResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::RerankRequest& request) override {
    RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_RERANK}));
    RETURN_IF_ERROR(
        service().CheckCount("documents", request.documents_size()));
    if (!request.truncate()) {
      RETURN_IF_ERROR(CheckTextBytes("query", request.query().size(),
                                     info().max_text_tokens, tokenizer()));
    }
    if (request.top_n() < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("top_n is %d, must be 0 or more", request.top_n()));
    }
    top_n_ = request.top_n() > 0 ? request.top_n() : request.documents_size();
    kind_ = request.raw_scores() ? LabelScores::kRaw : info().pair_scores;
    if (request.return_documents()) {
      documents_.assign(request.documents().begin(), request.documents().end());
    }
    return request.documents_size();
  }

  absl::Status Submit(const v1::RerankRequest& request, int index,
                      InputState& input) override {
    v1::Input pair;
    pair.set_text(request.query());
    pair.set_pair(request.documents(index));
    // A CrossEncoder cuts every pair at this length.
    ASSIGN_OR_RETURN(Source source,
                     ReadSource(pair,
                                {.truncate = request.truncate(),
                                 .max_text_tokens = info().max_text_tokens,
                                 .needs_token = true,
                                 .takes_pair = true,
                                 .call = &input.call()},
                                info(), tokenizer(),
                                absl::StrFormat("documents[%d]", index)));
    const InputFacts facts = source.facts();
    input.Submit({std::move(source.tokens), ClassifyTask{}}, facts,
                 {.choices = 0, .values = 1}, request.priority());
    return absl::OkStatus();
  }

  // Until Arrange(), a score is a logit: equal scores may be of different
  // logits.
  void Fill(int index, v1::RerankResult& result) override {
    result.set_score(input(index).output().values.front());
  }

  // The `top_n_` documents with the highest logits, highest first, then those
  // that failed.
  void Arrange(Results& results) override {
    for (int i = 0; i < size(); ++i) {
      results[i].set_index(i);
      if (!documents_.empty()) results[i].set_document(documents_[i]);
    }
    const auto begin = results.pointer_begin();
    const auto failed = std::stable_partition(
        begin, results.pointer_end(),
        [](const auto* r) { return r->status().code() == 0; });
    std::stable_sort(begin, failed, [](const auto* a, const auto* b) {
      return a->score() > b->score();
    });
    const int ranked = static_cast<int>(failed - begin);
    for (auto result = begin; result != failed; ++result) {
      float score = (*result)->score();
      ScoreLabels(kind_, absl::MakeSpan(&score, 1));
      (*result)->set_score(score);
    }
    if (ranked > top_n_) results.DeleteSubrange(top_n_, ranked - top_n_);
  }

  int top_n_ = 0;
  LabelScores kind_ = LabelScores::kRaw;
  std::vector<std::string> documents_;  // if they are to be returned
};

}  // namespace

std::unique_ptr<Handler> NewRerankHandler(const Service& service,
                                          CallContext& context) {
  return std::make_unique<RerankHandler>(service, context);
}

}  // namespace attend
