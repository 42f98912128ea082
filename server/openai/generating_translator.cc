#include "server/openai/generating_translator.h"

#include <utility>

#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"
#include "server/openai/constraint_fields.h"
#include "server/service/methods.h"

namespace attend {

absl::StatusOr<const ServedModel*> GeneratingTranslator::FindModel(
    const Service& service, CallContext& context) {
  ASSIGN_OR_RETURN(model_, service.Find(generation_.request->model(), context));
  frame_ =
      AnswerFrame::New(id_prefix_, context.request_id(), model_->info().name);
  return model_;
}

HandledRequest GeneratingTranslator::Handled(FieldNames own) {
  names_.assign(own.begin(), own.end());
  for (const absl::string_view name : ConstraintNames()) {
    names_.emplace_back(name, generation_.constraint_field);
  }
  if (!generation_.max_tokens) {
    names_.emplace_back("params.max_new_tokens", "max_completion_tokens");
  }
  const FieldNames shared = GenerationFieldNames();
  names_.insert(names_.end(), shared.begin(), shared.end());
  return {generation_.streams ? NewGenerateStreamHandler : NewGenerateHandler,
          std::move(generation_.request), generation_.streams};
}

absl::Status GeneratingTranslator::Append(
    const google::protobuf::Message& answer, std::string& text) {
  return generation_.streams
             ? AppendPart(static_cast<const v1::GenerateChunk&>(answer), text)
             : AppendWhole(static_cast<const v1::GenerateResponse&>(answer),
                           text);
}

absl::Status GeneratingTranslator::AppendWhole(
    const v1::GenerateResponse& response, std::string& text) {
  Json choices = Json::array();
  for (int i = 0; i < response.results_size(); ++i) {
    const v1::GenerateResult& result = response.results(i);
    if (result.status().code() != 0) return FailureOf(result.status());
    CountUsage(result.usage());
    for (int c = 0; c < result.choices_size(); ++c) {
      const v1::Choice& choice = result.choices(c);
      AddCopies({.input = i,
                 .choice = c,
                 .text = choice.text(),
                 .ids = choice.ids(),
                 .log_probs = choice.log_probs(),
                 .finish = choice.finish_reason(),
                 .prompt = result.has_prompt() ? &result.prompt() : nullptr},
                choices);
    }
  }
  Json answer = frame_.ToJson(object_);
  answer["choices"] = std::move(choices);
  answer["usage"] = Usage();
  text += DumpJson(answer);
  return absl::OkStatus();
}

absl::Status GeneratingTranslator::AppendPart(const v1::GenerateChunk& chunk,
                                              std::string& text) {
  if (chunk.status().code() != 0) return FailureOf(chunk.status());
  if (chunk.has_usage()) CountUsage(chunk.usage());
  Json choices = Json::array();
  AddCopies({.input = chunk.input(),
             .choice = chunk.choice(),
             .text = chunk.text(),
             .ids = chunk.ids(),
             .log_probs = chunk.log_probs(),
             .finish = chunk.finish_reason(),
             .prompt = chunk.has_prompt() ? &chunk.prompt() : nullptr},
            choices);
  for (Json& choice : choices) {
    Json event = frame_.ToJson(part_object_);
    event["choices"] = Json::array({std::move(choice)});
    if (generation_.include_usage) event["usage"] = nullptr;
    text += Event(event);
  }
  return absl::OkStatus();
}

void GeneratingTranslator::AddCopies(ChoicePart part, Json& choices) {
  const int copies = generation_.copies ? generation_.choices : 1;
  for (int i = 0; i < copies; ++i) {
    AddChoice(part, choices);
    ++part.choice;
  }
}

void GeneratingTranslator::CountUsage(const v1::Usage& usage) {
  const int copies = generation_.copies ? generation_.choices : 1;
  prompt_tokens_ += usage.source_tokens();
  new_tokens_ += CountTokens(usage.generated_tokens()) * copies;
}

void GeneratingTranslator::AppendEnd(std::string& text) {
  if (!generation_.streams) return;
  if (generation_.include_usage) {
    Json event = frame_.ToJson(part_object_);
    event["choices"] = Json::array();
    event["usage"] = Usage();
    text += Event(event);
  }
  text.append(kLastEvent.data(), kLastEvent.size());
}

}  // namespace attend
