#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/grpc/inputs.h"
#include "server/grpc/params.h"
#include "server/grpc/results.h"
#include "server/grpc/service.h"

namespace attend {
namespace {

// Log-probabilities of given targets.
class ScoreHandler final : public Handler<v1::ScoreRequest, v1::ScoreResponse> {
 public:
  ScoreHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::Status Start(const v1::ScoreRequest& request) override {
    ASSIGN_OR_RETURN(model_, service_.Find(request.model(), context_));
    RETURN_IF_ERROR(service_.CheckCount("pairs", request.pairs_size()));
    RETURN_IF_ERROR(CheckPriority(request.priority()));
    RETURN_IF_ERROR(CheckTopLogProbs(request.top_log_probs()));
    top_log_probs_ = request.top_log_probs();
    for (int i = 0; i < request.pairs_size(); ++i) {
      inputs_.push_back(std::make_unique<InputState>(
          *model_, service_.clock, context_, /*streaming=*/false));
    }
    for (int i = 0; i < request.pairs_size(); ++i) {
      const absl::Status status = Submit(request, i);
      if (!status.ok()) {
        model_->metrics.OnRejected(RejectReason::kInvalid);
        inputs_[i]->End(status);
      }
    }
    return absl::OkStatus();
  }

  bool Next(v1::ScoreResponse& response) override {
    if (ended_) return false;
    {
      std::lock_guard lock(context_.mutex());
      if (!AllDone(inputs_)) return false;
      status_ = CommonError(inputs_);
    }
    // Done: the worker touches them no more.
    ended_ = true;
    if (!status_.ok()) return false;
    response.set_model(model_->info().name);
    for (const auto& input : inputs_) Fill(*input, *response.add_results());
    return true;
  }
  bool ended() const override { return ended_; }
  absl::Status status() const override { return status_; }

  bool quiet() const override {
    std::lock_guard lock(context_.mutex());
    return AllDone(inputs_);
  }
  CallSummary summary() const override {
    std::lock_guard lock(context_.mutex());
    return Summarize(inputs_);
  }

 private:
  // Submits one pair; an error is of the pair itself.
  absl::Status Submit(const v1::ScoreRequest& request, int index) {
    const v1::ScorePair& pair = request.pairs(index);
    const std::string field = absl::StrFormat("pairs[%d]", index);
    ASSIGN_OR_RETURN(
        Source source,
        ReadSource(pair.source(), request.truncate(), model_->info(),
                   model_->tokenizer, absl::StrCat(field, ".source")));
    ASSIGN_OR_RETURN(
        std::vector<int> target,
        ReadTarget(pair.target(), model_->info(), model_->tokenizer,
                   absl::StrCat(field, ".target")));
    // Decoder rows: the start, and all of the target but its last token.
    const int limit = model_->info().max_target_tokens;
    const int size = static_cast<int>(target.size());
    if (source.tokens.ids.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".source has no tokens, must have one"));
    }
    if (size < 1 || size > limit) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s.target has %d tokens, must be 1 to %d "
                          "(max_target_tokens)",
                          field, size, limit));
    }
    const InputFacts facts = {
        .source_tokens = static_cast<int>(source.tokens.ids.size()),
        .truncated = source.truncated};
    inputs_[index]->Submit({std::move(source.tokens),
                            ScoreTask{std::move(target), top_log_probs_}},
                           facts,
                           {.choices = 1,
                            .tokens = size,
                            .log_probs = true,
                            .top_log_probs = top_log_probs_},
                           request.priority());
    return absl::OkStatus();
  }

  void Fill(const InputState& input, v1::ScoreResult& result) const {
    *result.mutable_status() = ToProto(input.status());
    *result.mutable_usage() = MakeUsage(input.facts(), input.output());
    *result.mutable_timings() = MakeTimings(input.times(), context_.arrival());
    if (!input.status().ok() || input.output().choices.empty()) return;
    const ChoiceOutput& choice = input.output().choices.front();
    AddLogProbs(choice, 0, top_log_probs_, model_->tokenizer,
                result.mutable_tokens());
    double sum = 0;
    for (float log_prob : choice.log_probs) sum += log_prob;
    result.set_log_prob(sum);
  }

  const Service& service_;
  CallContext& context_;
  const ServedModel* model_ = nullptr;
  int top_log_probs_ = 0;
  Inputs inputs_;
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace

HandlerPtr<v1::ScoreRequest, v1::ScoreResponse> NewScoreHandler(
    const Service& service, CallContext& context) {
  return std::make_unique<ScoreHandler>(service, context);
}

}  // namespace attend
