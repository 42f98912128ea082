#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/inputs.h"
#include "server/service/labels.h"
#include "server/service/service.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

// Orders documents by the label of a cross-encoder, which reads the query and
// a document as a pair.
class RerankHandler final
    : public BatchHandler<v1::RerankRequest, v1::RerankResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::RerankRequest& request) override {
    RETURN_IF_ERROR(CheckTask(info(), {v1::TASK_RERANK}));
    RETURN_IF_ERROR(
        service().CheckCount("documents", request.documents_size()));
    if (request.top_n() < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("top_n is %d, must be 0 or more", request.top_n()));
    }
    top_n_ = request.top_n() > 0 ? request.top_n() : request.documents_size();
    kind_ = request.raw_scores() ? LabelScores::kRaw : info().label_scores;
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
    ASSIGN_OR_RETURN(Source source,
                     ReadSource(pair,
                                {.truncate = request.truncate(),
                                 .needs_token = true,
                                 .takes_pair = true},
                                info(), tokenizer(),
                                absl::StrFormat("documents[%d]", index)));
    const InputFacts facts = source.facts();
    input.Submit({std::move(source.tokens), ClassifyTask{}}, facts,
                 {.choices = 0, .values = 1}, request.priority());
    return absl::OkStatus();
  }

  void Fill(v1::RerankResponse& response) override {
    std::vector<float> scores(size());
    std::vector<int> order(size());
    std::iota(order.begin(), order.end(), 0);
    const auto failed =
        std::stable_partition(order.begin(), order.end(),
                              [&](int i) { return input(i).status().ok(); });
    std::for_each(order.begin(), failed, [&](int i) {
      scores[i] = input(i).output().values.front();
      ScoreLabels(kind_, absl::MakeSpan(&scores[i], 1));
    });
    std::stable_sort(order.begin(), failed,
                     [&](int a, int b) { return scores[a] > scores[b]; });
    if (failed - order.begin() > top_n_) {
      order.erase(order.begin() + top_n_, failed);
    }
    for (const int index : order) {
      v1::RerankResult& result = *response.add_results();
      FillOutcome(index, result);
      result.set_index(index);
      result.set_score(scores[index]);
      if (!documents_.empty()) result.set_document(documents_[index]);
    }
  }

  int top_n_ = 0;
  LabelScores kind_ = LabelScores::kRaw;
  std::vector<std::string> documents_;  // if they are to be returned
};

}  // namespace

HandlerPtr<v1::RerankRequest, v1::RerankResponse> NewRerankHandler(
    const Service& service, CallContext& context) {
  return std::make_unique<RerankHandler>(service, context);
}

}  // namespace attend
