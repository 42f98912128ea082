// POST /v1/completions.

#include <optional>
#include <utility>
#include <vector>

#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/generating_translator.h"
#include "server/openai/input_texts.h"
#include "server/openai/openai_api.h"

namespace attend {
namespace {

// OpenAI's default, for models that continue text.
constexpr int kDefaultMaxTokens = 16;

// The fields that only completions have.
struct CompletionFields {
  v1::GenerateRequest& request;
  bool echo = false;
  std::optional<int64_t> log_probs = {};
};
using CompletionField = JsonField<CompletionFields>;

constexpr CompletionField kCompletionFields[] = {
    {"prompt", kInputsSchema,
     "A text or a list of token ids, or a list of such.",
     [](const JsonValue& value, CompletionFields& to) {
       return ReadInputs(value, *to.request.mutable_inputs());
     }},
    {"echo", R"({"type": "boolean"})",
     "Return the prompt in front of each choice. Only of models that continue "
     "text.",
     [](const JsonValue& value, CompletionFields& to) {
       ASSIGN_OR_RETURN(to.echo, value.Bool());
       return absl::OkStatus();
     }},
    {"logprobs", R"({"type": "integer", "minimum": 0, "maximum": 20})",
     "Return the log-probability of each token, and so many alternatives; with "
     "echo those of the prompt, too.",
     [](const JsonValue& value, CompletionFields& to) {
       ASSIGN_OR_RETURN(to.log_probs, value.Int(0, 20));
       return absl::OkStatus();
     }},
    {"source_language", R"({"type": "string"})",
     "Of multilingual models: the language of the prompt.",
     [](const JsonValue& value, CompletionFields& to) {
       ASSIGN_OR_RETURN(*to.request.mutable_source_language(), value.String());
       return absl::OkStatus();
     }},
    {"target_language", R"({"type": "string"})",
     "Of multilingual models: the language of the choices.",
     [](const JsonValue& value, CompletionFields& to) {
       ASSIGN_OR_RETURN(*to.request.mutable_target_language(), value.String());
       return absl::OkStatus();
     }},
};

class CompletionTranslator final : public GeneratingTranslator {
 public:
  CompletionTranslator()
      : GeneratingTranslator("cmpl-", "text_completion", "text_completion") {}

  absl::StatusOr<HandledRequest> Read(const HttpCallInput& input,
                                      const Service& service,
                                      CallContext& context) override {
    CompletionFields fields{.request = *generation_.request};
    ASSIGN_OR_RETURN(const Json body,
                     ParseBody(input.body.text, input.content_type));
    RETURN_IF_ERROR(ReadGeneration<CompletionFields>(body, kCompletionFields,
                                                     generation_, fields));
    if (fields.request.inputs_size() == 0) {
      return FieldError("prompt", "is absent, must be there");
    }
    ASSIGN_OR_RETURN(const ServedModel* served, FindModel(service, context));
    generation_.log_probs = fields.log_probs.has_value();
    generation_.top_log_probs = static_cast<int>(fields.log_probs.value_or(0));
    std::optional<int> default_max_tokens;
    if (served->info().continues_source) default_max_tokens = kDefaultMaxTokens;
    RETURN_IF_ERROR(Finish(served->info(), default_max_tokens, generation_));
    RETURN_IF_ERROR(FinishEcho(fields));
    return Handled();
  }

 private:
  // How far the text of a choice has come.
  struct Progress {
    bool begun = false;
    size_t characters = 0;
  };

  // Without new tokens only the prompt is wanted: one token is computed, and
  // not returned.
  absl::Status FinishEcho(const CompletionFields& fields) {
    v1::GenerationParams& params = generation_.params();
    params.set_echo(fields.echo);
    params.set_prompt_log_probs(fields.echo && generation_.log_probs);
    if (generation_.max_tokens != 0 && generation_.max_completion_tokens != 0) {
      return absl::OkStatus();
    }
    if (!fields.echo) {
      return FieldError(
          generation_.max_tokens ? "max_tokens" : "max_completion_tokens",
          "is 0, must be 1 or more without echo");
    }
    drops_new_ = true;
    params.set_max_new_tokens(1);
    return absl::OkStatus();
  }

  void AddChoice(const ChoicePart& part, Json& choices) override {
    const size_t index = IndexOf(part);
    if (progress_.size() <= index) progress_.resize(index + 1);
    Progress& progress = progress_[index];
    if (prompts_.size() <= static_cast<size_t>(part.input)) {
      prompts_.resize(part.input + 1);
    }
    v1::Prompt& prompt = prompts_[part.input];
    if (part.prompt != nullptr) prompt = *part.prompt;
    const bool ends = part.finish != v1::FINISH_REASON_UNSPECIFIED;
    std::string text = drops_new_ ? "" : part.text;
    const bool first = !std::exchange(progress.begun, true);
    if (first) text.insert(0, prompt.text());
    if (text.empty() && !ends && part.log_probs.empty()) return;
    CompletionLogProbs log_probs(tokenizer(), progress.characters);
    if (first) log_probs.AddPrompt(prompt.log_probs());
    if (!drops_new_) log_probs.Add(part.log_probs);
    progress.characters = log_probs.offset();
    choices.push_back(
        {{"index", index},
         {"text", std::move(text)},
         {"logprobs", generation_.log_probs ? std::move(log_probs).ToJson()
                                            : Json(nullptr)},
         {"finish_reason", FinishReasonJson(part.finish)}});
  }
  int CountTokens(int generated) const override {
    return drops_new_ ? 0 : generated;
  }

  bool drops_new_ = false;
  std::vector<v1::Prompt> prompts_;  // of the inputs; empty if not wanted
  std::vector<Progress> progress_;
};

}  // namespace

std::unique_ptr<HttpTranslator> NewCompletionTranslator() {
  return std::make_unique<CompletionTranslator>();
}

std::vector<FieldHelp> CompletionFieldList() {
  std::vector<FieldHelp> all = Describe<CompletionFields>(kCompletionFields);
  const std::vector<FieldHelp> shared = Describe(GenerationFields());
  all.insert(all.end(), shared.begin(), shared.end());
  return all;
}

}  // namespace attend
