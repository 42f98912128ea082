#ifndef ATTEND_SERVER_OPENAI_CONSTRAINT_FIELDS_H_
#define ATTEND_SERVER_OPENAI_CONSTRAINT_FIELDS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/http_call/json_value.h"
#include "server/openai/generation.h"

namespace attend {

// Readers of the fields that say what the text has to be. One of them may be
// given.

// OpenAI's: text, any JSON object, or JSON that a schema allows.
absl::Status ReadResponseFormat(const JsonValue& value, GenerationRequest& to);

// vLLM's: an object with one of json, json_object, regex, choice, grammar; and
// the older fields, each for one of these.
absl::Status ReadStructuredOutputs(const JsonValue& value,
                                   GenerationRequest& to);
absl::Status ReadGuidedJson(const JsonValue& value, GenerationRequest& to);
absl::Status ReadGuidedRegex(const JsonValue& value, GenerationRequest& to);
absl::Status ReadGuidedChoice(const JsonValue& value, GenerationRequest& to);
absl::Status ReadGuidedGrammar(const JsonValue& value, GenerationRequest& to);

// Holds the text to a schema, as `field` asks. INVALID_ARGUMENT: another field
// has a constraint already.
absl::Status ConstrainToJson(absl::string_view field, const Json& schema,
                             GenerationRequest& to);

// The same for a grammar in Lark.
absl::Status ConstrainToGrammar(absl::string_view field,
                                const std::string& lark, GenerationRequest& to);

// The form that the request asks of an answer, as the text of a rule in Lark,
// for a grammar in which something else may stand for the answer. Empty: none.
// INVALID_ARGUMENT: it is a grammar of its own, which is no rule of another.
absl::StatusOr<std::string> AnswerRule(const GenerationRequest& generation);

// What errors of attend.v1 call the parts of a constraint.
absl::Span<const absl::string_view> ConstraintNames();

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_CONSTRAINT_FIELDS_H_
