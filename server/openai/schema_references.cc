#include "server/openai/schema_references.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace attend {
namespace {

bool IsOneOf(absl::string_view key,
             std::initializer_list<absl::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// `named`: the keys of `json` are names of schemas.
void Move(const std::string& place, Json& json, bool named = false) {
  if (!json.is_structured()) return;
  for (auto& [key, value] : json.items()) {
    if (named || json.is_array()) {
      Move(place, value);
    } else if (IsOneOf(key, {"const", "enum", "default", "examples"})) {
      continue;
    } else if (key == "$ref" && value.is_string()) {
      const auto& reference = value.get_ref<const std::string&>();
      if (reference == "#" || absl::StartsWith(reference, "#/")) {
        value = place + reference.substr(1);
      }
    } else {
      Move(place, value,
           IsOneOf(key, {"properties", "patternProperties", "$defs",
                         "definitions", "dependentSchemas"}));
    }
  }
}

}  // namespace

void MoveReferences(const std::string& place, Json& schema) {
  Move(place, schema);
}

}  // namespace attend
