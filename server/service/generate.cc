#include "server/service/generate.h"

#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/service/choice_text.h"
#include "server/service/inputs.h"
#include "server/service/params.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

uint64_t DrawSeed() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

// The answer to a source without a token.
SequenceOutput EmptyOutput(const GenerationParams& params) {
  SequenceOutput output;
  output.choices.resize(params.num_return_sequences);
  for (ChoiceOutput& choice : output.choices) {
    choice.finish = FinishReason::kEos;
  }
  output.finished = true;
  return output;
}

// A multilingual model writes the target language's token first.
absl::Status ReadLanguages(const v1::GenerateRequest& request,
                           const Tokenizer& tokenizer,
                           GenerationParams& params) {
  RETURN_IF_ERROR(
      CheckLanguage("source_language", request.source_language(), tokenizer));
  RETURN_IF_ERROR(
      CheckLanguage("target_language", request.target_language(), tokenizer));
  if (request.target_language().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(params.forced_bos_id,
                   tokenizer.LanguageId(request.target_language()));
  return absl::OkStatus();
}

// A batch in, a batch out.
class GenerateHandler final
    : public Handler<v1::GenerateRequest, v1::GenerateResponse> {
 public:
  GenerateHandler(const Service& service, CallContext& context)
      : service_(service), context_(context) {}

  absl::Status Start(const v1::GenerateRequest& request) override {
    RETURN_IF_ERROR(call_.Start(request, false, service_, context_));
    for (int i = 0; i < request.inputs_size(); ++i) response_.add_results();
    response_.set_model(call_.model->info().name);
    return absl::OkStatus();
  }

  // Results are put into words as their inputs end, not all at the end.
  bool Next(v1::GenerateResponse& response) override {
    for (size_t i = 0; i < call_.inputs.size(); ++i) {
      if (!response_.results(i).has_status()) TryFinish(i);
    }
    if (ended_ || built_ < call_.inputs.size()) return false;
    ended_ = true;
    {
      std::lock_guard lock(context_.mutex());
      status_ = CommonError(call_.inputs);
    }
    if (!status_.ok()) return false;
    response = std::move(response_);
    return true;
  }
  bool ended() const override { return ended_; }
  absl::Status status() const override { return status_; }

  bool quiet() const override {
    std::lock_guard lock(context_.mutex());
    return AllDone(call_.inputs);
  }
  CallSummary summary() const override {
    std::lock_guard lock(context_.mutex());
    return Summarize(call_.inputs);
  }

 private:
  void TryFinish(size_t index) {
    const InputState& input = *call_.inputs[index];
    {
      std::lock_guard lock(context_.mutex());
      if (!input.done()) return;
    }
    // Done: the worker touches it no more.
    ++built_;
    v1::GenerateResult& result = *response_.mutable_results(index);
    *result.mutable_status() = ToProto(input.status());
    *result.mutable_usage() = MakeUsage(input.facts(), input.output());
    *result.mutable_timings() = MakeTimings(input.times(), context_.arrival());
    if (!input.status().ok()) return;
    if (call_.wants_prompt()) {
      call_.FillPrompt(index, input.output().prompt, *result.mutable_prompt());
    }
    for (const ChoiceOutput& choice : input.output().choices) {
      FillChoice(choice, call_.NewText(index), *result.add_choices());
    }
  }

  void FillChoice(const ChoiceOutput& choice, ChoiceText text,
                  v1::Choice& to) const {
    for (int id : choice.tokens) to.mutable_text()->append(text.Append(id));
    to.mutable_text()->append(text.Flush());
    to.mutable_ids()->Add(choice.tokens.begin(), choice.tokens.end());
    AddLogProbs(choice, 0, call_.params.top_log_probs, call_.model->tokenizer,
                to.mutable_log_probs());
    to.set_finish_reason(ToProto(choice.finish));
    to.set_score(choice.score);
  }

  const Service& service_;
  CallContext& context_;
  GenerateCall call_;
  v1::GenerateResponse response_;
  size_t built_ = 0;  // results in response_
  bool ended_ = false;
  absl::Status status_;
};

}  // namespace

absl::Status GenerateCall::Submit(const v1::GenerateRequest& request,
                                  const std::string& field, Source source,
                                  InputState& input) {
  GenerateTask task = {params};
  int prompt_tokens = 0;
  if (model->info().continues_source) {
    const int known = static_cast<int>(source.tokens.ids.size());
    if (params.prompt_log_probs) {
      prompt_tokens = known + static_cast<int>(params.forced_prefix.size());
    }
    RETURN_IF_ERROR(Annotate(
        FitLengths(request.params(), model->info(), known, task.params),
        absl::StrFormat("%s has %d tokens", field, known)));
  }
  if (params.do_sample && !request.params().has_seed()) {
    task.params.seed = DrawSeed();
  }
  InputFacts facts = source.facts();
  facts.sampled = params.do_sample;
  facts.seed = task.params.seed;
  const OutputLimits limits = {.choices = params.num_return_sequences,
                               .tokens = task.params.max_new_tokens,
                               .log_probs = params.log_probs,
                               .top_log_probs = params.top_log_probs,
                               .prompt_tokens = prompt_tokens};
  input.Submit({std::move(source.tokens), std::move(task)}, facts, limits,
               request.priority());
  return absl::OkStatus();
}

void GenerateCall::FillPrompt(size_t input, const ChoiceOutput& output,
                              v1::Prompt& to) const {
  const std::vector<int>& ids = before[input];
  if (echo) {
    to.mutable_ids()->Add(ids.begin(), ids.end());
    const auto stream = model->tokenizer.NewStream({});
    for (int id : ids) to.mutable_text()->append(stream->Append(id));
    to.mutable_text()->append(stream->Flush());
  }
  if (!params.prompt_log_probs || ids.empty()) return;
  SetLogProb(ids[0], 0, model->tokenizer, to.add_log_probs()->mutable_token());
  AddLogProbs(output, 0, params.top_log_probs, model->tokenizer,
              to.mutable_log_probs());
}

absl::Status GenerateCall::Start(const v1::GenerateRequest& request,
                                 bool streaming, const Service& service,
                                 CallContext& context) {
  ASSIGN_OR_RETURN(model, service.Find(request.model(), context));
  RETURN_IF_ERROR(CheckTask(model->info(), {v1::TASK_GENERATE}));
  RETURN_IF_ERROR(service.CheckCount("inputs", request.inputs_size()));
  RETURN_IF_ERROR(CheckPriority(request.priority()));
  ASSIGN_OR_RETURN(
      params, MergeParams(request.params(), model->info(), model->tokenizer));
  RETURN_IF_ERROR(ReadLanguages(request, model->tokenizer, params));
  echo = request.params().echo();
  for (int i = 0; i < request.inputs_size(); ++i) {
    inputs.push_back(std::make_unique<InputState>(*model, service.clock,
                                                  context, streaming));
  }
  before.resize(request.inputs_size());
  for (int i = 0; i < request.inputs_size(); ++i) {
    const absl::Status status = StartInput(request, i);
    if (status.ok()) continue;
    model->metrics.OnRejected(RejectReason::kInvalid);
    inputs[i]->End(status);
  }
  return absl::OkStatus();
}

absl::Status GenerateCall::StartInput(const v1::GenerateRequest& request,
                                      int index) {
  const std::string field = absl::StrFormat("inputs[%d]", index);
  ASSIGN_OR_RETURN(Source source,
                   ReadSource(request.inputs(index),
                              {.truncate = request.truncate(),
                               .takes_chat = true,
                               .chat = model->chat,
                               .language = request.source_language()},
                              model->info(), model->tokenizer, field));
  if (source.empty) {
    inputs[index]->End(absl::OkStatus(), EmptyOutput(params));
    return absl::OkStatus();
  }
  if (model->info().continues_source) {
    before[index] = source.tokens.ids;
    before[index].insert(before[index].end(), params.forced_prefix.begin(),
                         params.forced_prefix.end());
  }
  return Submit(request, field, std::move(source), *inputs[index]);
}

HandlerPtr<v1::GenerateRequest, v1::GenerateResponse> NewGenerateHandler(
    const Service& service, CallContext& context) {
  return std::make_unique<GenerateHandler>(service, context);
}

}  // namespace attend
