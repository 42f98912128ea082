#ifndef ATTEND_SERVER_OPENAI_INPUT_TEXTS_H_
#define ATTEND_SERVER_OPENAI_INPUT_TEXTS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "google/protobuf/repeated_field.h"
#include "server/http_call/json_value.h"

namespace attend {

// JSON Schema of what ReadInputs() takes.
inline constexpr absl::string_view kInputsSchema =
    R"({"oneOf": [{"type": "string"}, {"type": "array", "items": {"oneOf": )"
    R"([{"type": "string"}, {"type": "integer"}, {"type": "array", "items": )"
    R"({"type": "integer"}}]}}]})";

// Reads a text, a list of token ids, or a list of either: an input each.
absl::Status ReadInputs(const JsonValue& value,
                        google::protobuf::RepeatedPtrField<v1::Input>& inputs);

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_INPUT_TEXTS_H_
