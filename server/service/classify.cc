#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/labels.h"
#include "server/service/methods.h"
#include "server/service/source.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

// Classify: labels of texts, of pairs of texts, or of their tokens.
class ClassifyHandler final
    : public BatchHandler<v1::ClassifyRequest, v1::ClassifyResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::ClassifyRequest& request) override {
    RETURN_IF_ERROR(
        CheckTask(info(), {v1::TASK_CLASSIFY, v1::TASK_CLASSIFY_TOKENS}));
    RETURN_IF_ERROR(service().CheckCount("inputs", request.inputs_size()));
    if (request.top_k() < 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("top_k is %d, must be 0 or more", request.top_k()));
    }
    top_k_ = request.top_k();
    if (top_k_ == 0 && info().labels_tokens) top_k_ = 1;
    kind_ = request.raw_scores() ? LabelScores::kRaw : info().label_scores;
    if (info().labels_tokens) sources_.resize(request.inputs_size());
    return request.inputs_size();
  }

  absl::Status Submit(const v1::ClassifyRequest& request, int index,
                      InputState& input) override {
    // As the pipelines of transformers, which cut at the length that the model
    // was trained for, and else compute what its positions allow.
    const int text_limit = request.truncate() ? info().max_text_tokens : 0;
    ASSIGN_OR_RETURN(
        Source source,
        ReadSource(request.inputs(index),
                   {.truncate = request.truncate(),
                    .max_text_tokens = text_limit,
                    .needs_token = true,
                    .takes_pair = true,
                    .call = &input.call()},
                   info(), tokenizer(), absl::StrFormat("inputs[%d]", index)));
    const InputFacts facts = source.facts();
    size_t values = info().labels.size();
    if (info().labels_tokens) {
      values *= facts.source_tokens;
      sources_[index] = source;
    }
    input.Submit({std::move(source.tokens), ClassifyTask{}}, facts,
                 {.choices = 0, .values = values}, request.priority());
    return absl::OkStatus();
  }

  void Fill(int index, v1::ClassifyResult& result) override {
    if (info().labels_tokens) {
      FillTokens(index, result);
    } else {
      AddScored(index, 0, result.mutable_labels());
    }
  }

  void FillTokens(int index, v1::ClassifyResult& result) const {
    const Source& source = sources_[index];
    for (size_t t = 0; t < source.tokens.ids.size(); ++t) {
      v1::SourceToken token;
      FillSourceToken(source, t, tokenizer(), token);
      if (token.special()) continue;
      v1::TokenLabels& labels = *result.add_tokens();
      *labels.mutable_token() = std::move(token);
      AddScored(index, t, labels.mutable_labels());
    }
  }

  // Adds the labels of one row of an input's output: row `row` belongs to one
  // token, or row 0 to the whole text.
  void AddScored(int index, size_t row,
                 google::protobuf::RepeatedPtrField<v1::LabelScore>* to) const {
    const size_t width = info().labels.size();
    const float* const values = input(index).output().values.data();
    AddLabels({values + row * width, width}, kind_, info(), top_k_, to);
  }

  int top_k_ = 0;
  LabelScores kind_ = LabelScores::kRaw;
  std::vector<Source> sources_;  // of models that label tokens
};

}  // namespace

std::unique_ptr<Handler> NewClassifyHandler(const Service& service,
                                            CallContext& context) {
  return std::make_unique<ClassifyHandler>(service, context);
}

}  // namespace attend
