#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/classify_fields.h"
#include "server/service/labels.h"
#include "server/service/methods.h"
#include "server/service/source.h"
#include "server/service/span_windows.h"
#include "server/service/tasks.h"
#include "server/service/token_spans.h"
#include "server/service/zero_shot.h"

namespace attend {
namespace {

// Classify: labels of texts, of pairs of texts, or of tokens and spans of
// texts. The labels are the model's, or those of the request.
class ClassifyHandler final
    : public BatchHandler<v1::ClassifyRequest, v1::ClassifyResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::ClassifyRequest& request) override {
    const bool candidates = request.candidate_labels_size() > 0;
    RETURN_IF_ERROR(CheckTask(info(), TasksFor(candidates)));
    RETURN_IF_ERROR(CheckClassifyFields(request, info()));
    top_k_ = request.top_k();
    if (candidates) return PrepareCandidates(request);
    RETURN_IF_ERROR(service().CheckManyInputs("inputs", request.inputs_size()));
    if (top_k_ == 0 && info().labels_tokens) top_k_ = 1;
    kind_ = request.raw_scores() ? LabelScores::kRaw : info().label_scores;
    aggregation_ = request.aggregation();
    ignored_ = IgnoredLabels(request);
    if (request.has_stride()) return PrepareWindows(request);
    if (info().labels_tokens) sources_.resize(request.inputs_size());
    if (spans()) texts_.resize(request.inputs_size());
    return request.inputs_size();
  }

  static std::vector<v1::Task> TasksFor(bool candidates) {
    if (candidates) return {v1::TASK_ZERO_SHOT, v1::TASK_CHOOSE};
    return {v1::TASK_CLASSIFY, v1::TASK_CLASSIFY_TOKENS};
  }

  // Each input makes a pair with each label.
  absl::StatusOr<int> PrepareCandidates(const v1::ClassifyRequest& request) {
    ASSIGN_OR_RETURN(zero_shot_, ZeroShot::Create(request, info()));
    const int64_t pairs = int64_t{request.inputs_size()} * zero_shot_->size();
    RETURN_IF_ERROR(
        service().CheckManyInputs("inputs x candidate_labels", pairs));
    std::vector<int> ends;
    ends.reserve(request.inputs_size());
    for (int i = 1; i <= request.inputs_size(); ++i) {
      ends.push_back(i * zero_shot_->size());
    }
    SetGroups(std::move(ends));
    return static_cast<int>(pairs);
  }

  // Each window of a text is an input.
  absl::StatusOr<int> PrepareWindows(const v1::ClassifyRequest& request) {
    if (!windows_) {
      ASSIGN_OR_RETURN(windows_,
                       SpanWindows::Create(request, info(), tokenizer()));
    }
    ASSIGN_OR_RETURN(const bool complete, windows_->Read(request, context()));
    const WindowList& list = windows_->list();
    RETURN_IF_ERROR(
        service().CheckManyInputs("windows of inputs", list.inputs()));
    if (!complete) return kMore;
    SetGroups(list.ends());
    return list.inputs();
  }

  absl::Status Submit(const v1::ClassifyRequest& request, int index,
                      InputState& input) override {
    if (zero_shot_) return SubmitCandidate(request, index, input);
    if (windows_) return SubmitWindow(request, index);
    const std::string field = absl::StrFormat("inputs[%d]", index);
    const v1::Input& given = request.inputs(index);
    if (spans() && (!given.has_text() || given.has_pair())) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s must be one text, because aggregation is set", field));
    }
    ASSIGN_OR_RETURN(Source source,
                     ReadSource(given, OptionsFor(request, input), info(),
                                tokenizer(), field));
    size_t values = info().labels.size();
    if (info().labels_tokens) {
      values *= source.tokens.ids.size();
      sources_[index] = source;
    }
    if (spans()) texts_[index] = given.text();
    return EnqueueSource(request, index, std::move(source), values, field);
  }

  // As the pipelines of transformers, which cut at the length that the model
  // was trained for, and else compute what its positions allow.
  SourceOptions OptionsFor(const v1::ClassifyRequest& request,
                           const InputState& input) const {
    return {.truncate = request.truncate(),
            .max_text_tokens = request.truncate() ? info().max_text_tokens : 0,
            .needs_token = true,
            .takes_pair = true,
            .call = &input.call()};
  }

  absl::Status SubmitCandidate(const v1::ClassifyRequest& request, int index,
                               InputState& input) {
    const int text = index / zero_shot_->size();
    const std::string field = absl::StrFormat("inputs[%d]", text);
    const v1::Input& given = request.inputs(text);
    if (!given.has_text() || given.has_pair()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s must be one text, because candidate_labels is set", field));
    }
    v1::Input pair;
    pair.set_text(given.text());
    pair.set_pair(zero_shot_->hypothesis(index % zero_shot_->size()));
    SourceOptions options = OptionsFor(request, input);
    options.cut = PairCut::kTextOnly;
    ASSIGN_OR_RETURN(Source source,
                     ReadSource(pair, options, info(), tokenizer(), field));
    return EnqueueSource(request, index, std::move(source), LogitsOfPair(),
                         field);
  }

  absl::Status SubmitWindow(const v1::ClassifyRequest& request, int index) {
    Source source;
    ASSIGN_OR_RETURN(source.tokens, windows_->Tokens(index));
    const size_t values = info().labels.size() * source.tokens.ids.size();
    return EnqueueSource(
        request, index, std::move(source), values,
        absl::StrFormat("inputs[%d]", windows_->list().At(index).first));
  }

  absl::Status EnqueueSource(const v1::ClassifyRequest& request, int index,
                             Source source, size_t values,
                             absl::string_view field) {
    const InputFacts facts = source.facts();
    return Enqueue(index,
                   {.request = {std::move(source.tokens), ClassifyTask{}},
                    .facts = facts,
                    .limits = {.choices = 0, .values = values},
                    .priority = request.priority()},
                   field);
  }

  size_t LogitsOfPair() const {
    return info().chooses ? 1 : info().labels.size();
  }
  bool spans() const { return aggregation_ != v1::AGGREGATION_UNSPECIFIED; }

  void Fill(int index, v1::ClassifyResult& result) override {
    if (zero_shot_) {
      FillCandidates(index, result);
    } else if (spans()) {
      FillSpans(index, result);
    } else if (info().labels_tokens) {
      FillTokens(index, result);
    } else {
      AddScored(index, 0, result.mutable_labels());
    }
  }

  void FillCandidates(int index, v1::ClassifyResult& result) const {
    const InputRange pairs = inputs_of(index);
    std::vector<float> logits;
    logits.reserve(pairs.size() * LogitsOfPair());
    for (int i = pairs.begin; i < pairs.end; ++i) {
      const std::vector<float>& values = input(i).output().values;
      logits.insert(logits.end(), values.begin(), values.end());
    }
    zero_shot_->AddLabels(logits, top_k_, result.mutable_labels());
  }

  void FillSpans(int index, v1::ClassifyResult& result) const {
    for (v1::LabelSpan& span :
         windows_ ? SpansOfWindows(index) : SpansOfText(index)) {
      *result.add_spans() = std::move(span);
    }
  }

  std::vector<v1::LabelSpan> SpansOfWindows(int index) const {
    const int first = inputs_of(index).begin;
    return windows_->Spans(index, aggregation_, ignored_, [&](int window) {
      return absl::MakeConstSpan(input(first + window).output().values);
    });
  }

  std::vector<v1::LabelSpan> SpansOfText(int index) const {
    const Source& source = sources_[index];
    return FindSpans({.text = texts_[index],
                      .ids = source.tokens.ids,
                      .origins = source.origins,
                      .logits = input(index).output().values,
                      .labels = info().labels},
                     aggregation_, ignored_, tokenizer());
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
  std::optional<ZeroShot> zero_shot_;  // with candidate labels
  v1::Aggregation aggregation_ = v1::AGGREGATION_UNSPECIFIED;
  std::vector<std::string> ignored_;    // with aggregation
  std::optional<SpanWindows> windows_;  // with stride
  std::vector<std::string> texts_;      // with aggregation
  std::vector<Source> sources_;         // of models that label tokens
};

}  // namespace

std::unique_ptr<Handler> NewClassifyHandler(const Service& service,
                                            CallContext& context) {
  return std::make_unique<ClassifyHandler>(service, context);
}

}  // namespace attend
