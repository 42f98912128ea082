#include "server/openai/input_texts.h"

#include <vector>

#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::Status ReadIds(const JsonValue& value, v1::Input& input) {
  return value.ReadIds(*input.mutable_tokens()->mutable_ids());
}

}  // namespace

absl::Status ReadInputs(const JsonValue& value,
                        google::protobuf::RepeatedPtrField<v1::Input>& inputs) {
  const Json& json = value.json();
  if (json.is_string()) {
    inputs.Add()->set_text(json.get_ref<const std::string&>());
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(value.Expect(
      json.is_array() && !json.empty(),
      "a string, a list of token ids, or a list of such; and not empty"));
  if (json[0].is_number()) return ReadIds(value, *inputs.Add());
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, value.List());
  for (const JsonValue& entry : entries) {
    v1::Input& input = *inputs.Add();
    if (json[0].is_array()) {
      RETURN_IF_ERROR(ReadIds(entry, input));
    } else {
      ASSIGN_OR_RETURN(*input.mutable_text(), entry.String());
    }
  }
  return absl::OkStatus();
}

}  // namespace attend
