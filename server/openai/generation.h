#ifndef ATTEND_SERVER_OPENAI_GENERATION_H_
#define ATTEND_SERVER_OPENAI_GENERATION_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "attend/v1/attend.pb.h"
#include "server/http_call/http_translator.h"
#include "server/http_call/json_fields.h"
#include "server/service/service.h"

namespace attend {

// What a request for generated text says, beside its input: the fields that
// chat and completions share. `request` is filled as far as a field has its own
// place there; Finish() fills the rest.
struct GenerationRequest {
  std::unique_ptr<v1::GenerateRequest> request =
      std::make_unique<v1::GenerateRequest>();
  bool streams = false;
  bool include_usage = false;
  int choices = 1;  // n
  std::optional<int> best_of;
  std::optional<double> temperature;
  std::optional<int64_t> max_tokens;             // the older name
  std::optional<int64_t> max_completion_tokens;  // the newer one
  bool unlimited = false;  // one of these is -1: as many tokens as fit
  bool beam_search = false;
  bool ignore_eos = false;
  bool log_probs = false;
  int top_log_probs = 0;
  // Greedy search finds the same text each time: one is computed, and each of
  // `choices` is a copy.
  bool copies = false;
  // The field that says what the text has to be; empty: none does.
  std::string constraint_field;

  v1::GenerationParams& params() { return *request->mutable_params(); }
};

// The limits of such numbers that have one in OpenAI's API.
inline constexpr int kMaxChoices = 128;

// The fields that chat and completions share.
absl::Span<const JsonField<GenerationRequest>> GenerationFields();

// Reads the fields of `body`: those of GenerationFields(), or those of
// `more`, which is the API's own.
template <class Call>
absl::Status ReadGeneration(const Json& body,
                            absl::Span<const JsonField<Call>> more,
                            GenerationRequest& generation, Call& call) {
  ASSIGN_OR_RETURN(const std::vector<JsonValue> members,
                   JsonValue(body, "").Members());
  for (const JsonValue& member : members) {
    ASSIGN_OR_RETURN(bool known,
                     ReadField(member, GenerationFields(), generation));
    if (!known) {
      ASSIGN_OR_RETURN(known, ReadField(member, more, call));
    }
    if (!known) return UnknownField(member);
  }
  return absl::OkStatus();
}

// Checks how fields go together, and fills what follows from several of them.
// `default_max_tokens`: new tokens if the request does not say; 0: as many as
// fit; none: what the model's default is. Of a model that does not continue
// text, as many as fit means that default.
absl::Status Finish(const ModelInfo& model,
                    std::optional<int> default_max_tokens,
                    GenerationRequest& generation);

// What errors of attend.v1 call the fields, and OpenAI's API does.
FieldNames GenerationFieldNames();

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_GENERATION_H_
