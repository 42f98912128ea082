#include "engine/json/string_lists.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// Appends what one element stands for. Returns false if it is something else.
bool Append(const Json& element, size_t most, std::vector<std::string>& all) {
  if (!element.is_array() || element.size() != 2 || !element[0].is_array() ||
      !element[1].is_number_unsigned()) {
    return false;
  }
  const auto times = element[1].get<uint64_t>();
  for (uint64_t i = 0; i < times && !element[0].empty(); ++i) {
    for (const Json& text : element[0]) {
      if (!text.is_string() || all.size() == most) return false;
      all.push_back(text.get<std::string>());
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> RepeatedStrings(const JsonFile& file,
                                                         absl::string_view key,
                                                         size_t most) {
  const absl::Status error = file.Unexpected(
      key, absl::StrCat("a list of pairs: a list of strings, and how often it "
                        "is repeated, for at most ",
                        most, " strings"));
  const Json* value = file.Find(key);
  if (value == nullptr || !value->is_array()) return error;
  std::vector<std::string> all;
  for (const Json& element : *value) {
    if (!Append(element, most, all)) return error;
  }
  return all;
}

}  // namespace attend
