#include "server/service/generate.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/service/batch_handler.h"
#include "server/service/cache_salt.h"
#include "server/service/choice_text.h"
#include "server/service/constraint.h"
#include "server/service/methods.h"
#include "server/service/params.h"
#include "server/service/request_fields.h"
#include "server/service/source.h"
#include "server/service/tasks.h"

namespace attend {
namespace {

uint64_t DrawSeed() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

// Tells a multilingual model the target language: its token is the first of
// each result. A decoder that starts with the token of a language starts with
// that of the target, and is not told twice.
absl::Status ForceLanguage(const std::string& language,
                           const Tokenizer& tokenizer,
                           GenerationParams& params) {
  if (language.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int id, tokenizer.LanguageId(language));
  if (IsLanguageToken(params.decoder_start_id, tokenizer)) {
    params.decoder_start_id = id;
  } else {
    params.forced_bos_id = id;
  }
  return absl::OkStatus();
}

bool UsesSandbox(const v1::GenerateRequest& request) {
  return request.params().has_constraint() ||
         std::any_of(request.inputs().begin(), request.inputs().end(),
                     [](const v1::Input& input) { return input.has_chat(); });
}

class GenerateHandler final
    : public BatchHandler<v1::GenerateRequest, v1::GenerateResponse> {
 public:
  using BatchHandler::BatchHandler;

 private:
  absl::StatusOr<int> Prepare(const v1::GenerateRequest& request) override {
    return call_.Prepare(request, service(), model(), context());
  }
  absl::Status PrepareInSandbox(const v1::GenerateRequest& request) override {
    return call_.PrepareInSandbox(request, context());
  }
  absl::Status Submit(const v1::GenerateRequest& request, int index,
                      InputState& input) override {
    return call_.Submit(request, index, input);
  }

  void Fill(int index, v1::GenerateResult& result) override {
    const SequenceOutput& output = input(index).output();
    if (call_.wants_prompt()) {
      call_.FillPrompt(index, output.prompt, *result.mutable_prompt());
    }
    for (const ChoiceOutput& choice : output.choices) {
      call_.FillChoice(index, choice, *result.add_choices());
    }
    call_.alignments().FillSource(index, result.mutable_source_tokens());
  }

  GenerateCall call_;
};

}  // namespace

absl::StatusOr<int> GenerateCall::Prepare(const v1::GenerateRequest& request,
                                          const Service& service,
                                          const ServedModel& model,
                                          CallContext& call) {
  RETURN_IF_ERROR(CheckTask(model.info(), {v1::TASK_GENERATE}));
  RETURN_IF_ERROR(service.CheckCount("inputs", request.inputs_size()));
  RETURN_IF_ERROR(PrepareInputs(request, model));
  if (UsesSandbox(request)) call.UseSandbox();
  context_ = &call;
  return request.inputs_size();
}

absl::Status GenerateCall::PrepareInputs(const v1::GenerateRequest& request,
                                         const ServedModel& model) {
  model_ = &model;
  ASSIGN_OR_RETURN(
      params_, MergeParams(request.params(), model.info(), model.tokenizer));
  ASSIGN_OR_RETURN(cache_salt_, NamedSalt(request.params()));
  ASSIGN_OR_RETURN(languages_,
                   ReadLanguages(request.source_language(),
                                 request.target_language(), model.tokenizer));
  RETURN_IF_ERROR(ForceLanguage(languages_.target, model.tokenizer, params_));
  RETURN_IF_ERROR(alignments_.Prepare(request.alignments(),
                                      request.inputs_size(), model.info()));
  params_.alignments = alignments_.wanted();
  echo_ = request.params().echo();
  before_.resize(request.inputs_size());
  thoughts_.resize(request.inputs_size());
  return absl::OkStatus();
}

absl::Status GenerateCall::PrepareInSandbox(const v1::GenerateRequest& request,
                                            const CallContext& call) {
  ASSIGN_OR_RETURN(params_.constraint,
                   ReadConstraint(request.params(), *model_, call));
  return absl::OkStatus();
}

absl::Status GenerateCall::Submit(const v1::GenerateRequest& request, int index,
                                  InputState& input) {
  ASSIGN_OR_RETURN(
      std::optional<GenerateInput> read,
      Read(request, index, absl::StrFormat("inputs[%d]", index), input.call()));
  if (read) {
    input.Submit(std::move(read->request), read->facts, read->limits,
                 request.priority());
  } else {
    input.End(absl::OkStatus(), EmptyOutput());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<GenerateInput>> GenerateCall::Read(
    const v1::GenerateRequest& request, int index, const std::string& field,
    const CallContext& call) {
  ASSIGN_OR_RETURN(
      Source source,
      attend::ReadSource(request.inputs(index),
                         {.truncate = request.truncate(),
                          .takes_chat = true,
                          .chat = model_->chat,
                          .language = languages_.source,
                          .language_mark = languages_.prefix,
                          .call = &call},
                         model_->info(), model_->tokenizer, field));
  alignments_.Read(index, source, model_->tokenizer);
  if (source.empty) return std::nullopt;
  thoughts_[index] = source.thought;
  if (index == 0 && context_ != nullptr) context_->set_thought(source.thought);
  if (model_->info().continues_source) {
    before_[index] = source.tokens.ids;
    before_[index].insert(before_[index].end(), params_.forced_prefix.begin(),
                          params_.forced_prefix.end());
  }
  return ReadSource(request, field, std::move(source));
}

absl::StatusOr<GenerateInput> GenerateCall::ReadSource(
    const v1::GenerateRequest& request, const std::string& field,
    Source source) const {
  GenerateTask task = {params_};
  if (source.thought.possible()) {
    task.params.thought = source.thought;
    if (task.params.constraint != nullptr) {
      task.params.constraint =
          model_->grammars->SkipThought(task.params.constraint, source.thought);
    }
  }
  int prompt_tokens = 0;
  if (model_->info().continues_source) {
    const int known = static_cast<int>(source.tokens.ids.size());
    if (params_.prompt_log_probs) {
      prompt_tokens = known + static_cast<int>(params_.forced_prefix.size());
    }
    RETURN_IF_ERROR(Annotate(
        FitLengths(request.params(), model_->info(), known, task.params),
        absl::StrFormat("%s has %d tokens", field, known)));
  }
  if (params_.do_sample && !request.params().has_seed()) {
    task.params.seed = DrawSeed();
  }
  InputFacts facts = source.facts();
  facts.prefix_tokens = static_cast<int>(params_.forced_prefix.size());
  facts.sampled = params_.do_sample;
  facts.seed = task.params.seed;
  const OutputLimits limits = {.choices = params_.num_return_sequences,
                               .tokens = task.params.max_new_tokens,
                               .log_probs = params_.log_probs,
                               .top_log_probs = params_.top_log_probs,
                               .prompt_tokens = prompt_tokens};
  return GenerateInput{{InputOf(model_->info(), std::move(source.tokens)),
                        std::move(task), cache_salt_},
                       facts,
                       limits};
}

SequenceOutput GenerateCall::EmptyOutput() const {
  SequenceOutput output;
  output.choices.resize(params_.num_return_sequences);
  for (ChoiceOutput& choice : output.choices) {
    choice.finish = FinishReason::kEos;
  }
  output.finished = true;
  return output;
}

void GenerateCall::FillChoice(int input, const ChoiceOutput& choice,
                              v1::Choice& to) const {
  ChoiceText text = NewText(input);
  for (int id : choice.tokens) to.mutable_text()->append(text.Append(id));
  to.mutable_text()->append(text.Flush());
  to.mutable_ids()->Add(choice.tokens.begin(), choice.tokens.end());
  AddLogProbs(choice, 0, params_.top_log_probs, model_->tokenizer,
              to.mutable_log_probs());
  to.set_finish_reason(ToProto(choice.finish));
  to.set_score(choice.score);
  if (alignments_.wanted()) {
    alignments_.Fill(input, choice, *to.mutable_alignment());
  }
}

void GenerateCall::FillPrompt(size_t input, const ChoiceOutput& output,
                              v1::Prompt& to) const {
  const std::vector<int>& ids = before_[input];
  if (echo_) {
    to.mutable_ids()->Add(ids.begin(), ids.end());
    const auto stream = model_->tokenizer.NewStream({});
    for (int id : ids) to.mutable_text()->append(stream->Append(id));
    to.mutable_text()->append(stream->Flush());
  }
  if (!params_.prompt_log_probs || ids.empty()) return;
  SetLogProb(ids[0], 0, model_->tokenizer, to.add_log_probs()->mutable_token());
  AddLogProbs(output, 0, params_.top_log_probs, model_->tokenizer,
              to.mutable_log_probs());
}

std::unique_ptr<Handler> NewGenerateHandler(const Service& service,
                                            CallContext& context) {
  return std::make_unique<GenerateHandler>(service, context);
}

}  // namespace attend
