// The functions of JsonFile for strings.

#include <nlohmann/json.hpp>

#include "engine/json/json_file.h"

namespace attend {

using Json = nlohmann::json;

absl::StatusOr<std::string> JsonFile::String(absl::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr || !value->is_string()) {
    return Unexpected(key, "a string");
  }
  return value->get<std::string>();
}

absl::StatusOr<std::string> JsonFile::StringOr(
    absl::string_view key, absl::string_view fallback) const {
  if (!Has(key)) return std::string(fallback);
  return String(key);
}

absl::StatusOr<std::vector<std::string>> JsonFile::Strings(
    absl::string_view key) const {
  const Json* value = Find(key);
  if (value != nullptr && value->is_string()) {
    return std::vector<std::string>{value->get<std::string>()};
  }
  const absl::Status error = Unexpected(key, "a string or a list of strings");
  if (value == nullptr || !value->is_array()) return error;
  std::vector<std::string> strings;
  for (const Json& element : *value) {
    if (!element.is_string()) return error;
    strings.push_back(element.get<std::string>());
  }
  return strings;
}

absl::StatusOr<std::map<std::string, std::string>> JsonFile::StringMap(
    absl::string_view key) const {
  const Json* value = Find(key);
  const absl::Status error = Unexpected(key, "an object of strings");
  if (value == nullptr || !value->is_object()) return error;
  std::map<std::string, std::string> map;
  for (const auto& [name, element] : value->items()) {
    if (!element.is_string()) return error;
    map[name] = element.get<std::string>();
  }
  return map;
}

}  // namespace attend
