#ifndef ATTEND_SERVER_OPENAI_GENERATING_TRANSLATOR_H_
#define ATTEND_SERVER_OPENAI_GENERATING_TRANSLATOR_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/http_call/http_translator.h"
#include "server/openai/answer.h"
#include "server/openai/generation.h"
#include "server/service/service.h"

namespace attend {

// Of a choice: all of it, or what is new of it.
struct ChoicePart {
  int input = 0;
  int choice = 0;  // of the input
  const std::string& text;
  const google::protobuf::RepeatedField<int32_t>& ids;
  const LogProbs& log_probs;
  v1::FinishReason finish = v1::FINISH_REASON_UNSPECIFIED;
  // The prompt, in the first part of an input, if it is wanted; else null.
  const v1::Prompt* prompt = nullptr;
};

// What the translators of chat and completions share: answers become choices
// one by one, whether they come as a whole or as a stream.
class GeneratingTranslator : public HttpTranslator {
 public:
  FieldNames field_names() const final { return names_; }
  absl::Status Append(const google::protobuf::Message& answer,
                      std::string& text) final;
  void AppendEnd(std::string& text) final;
  absl::string_view filler() const final {
    return generation_.streams ? kEventComment : absl::string_view();
  }
  absl::string_view answer_type() const final {
    return generation_.streams ? "text/event-stream; charset=utf-8"
                               : "application/json";
  }

 protected:
  // `object` and `part_object`: the member "object" of an answer, and of an
  // event.
  GeneratingTranslator(absl::string_view id_prefix, absl::string_view object,
                       absl::string_view part_object)
      : id_prefix_(id_prefix), object_(object), part_object_(part_object) {}

  // Finds the model that generation_ names. Once, in Read(), before the rest is
  // read.
  absl::StatusOr<const ServedModel*> FindModel(const Service& service,
                                               CallContext& context);
  // The request of attend.v1; the last thing of Read(). `own`: the names of
  // fields that only this route has.
  HandledRequest Handled(FieldNames own = {});

  // Adds what the client gets of a part; nothing, if it need not see it. In a
  // stream every part that is added is an event.
  virtual void AddChoice(const ChoicePart& part, Json& choices) = 0;
  // How many tokens of `generated` the client is told.
  virtual int CountTokens(int generated) const { return generated; }

  const ServedModel& model() const { return *model_; }
  const Tokenizer& tokenizer() const { return model_->tokenizer; }
  // The place of a choice among those of all inputs.
  int IndexOf(const ChoicePart& part) const {
    return part.input * generation_.choices + part.choice;
  }

  GenerationRequest generation_;

 private:
  absl::Status AppendWhole(const v1::GenerateResponse& response,
                           std::string& text);
  absl::Status AppendPart(const v1::GenerateChunk& chunk, std::string& text);
  // AddChoice() for each copy of the choice.
  void AddCopies(ChoicePart part, Json& choices);
  void CountUsage(const v1::Usage& usage);
  Json Usage() const { return UsageJson(prompt_tokens_, new_tokens_); }

  const absl::string_view id_prefix_, object_, part_object_;
  const ServedModel* model_ = nullptr;
  std::vector<FieldNames::value_type> names_;  // from Handled() on
  AnswerFrame frame_;
  int prompt_tokens_ = 0;
  int new_tokens_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_GENERATING_TRANSLATOR_H_
