#include "engine/tokenizer/text/json_fields.h"

#include <exception>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/read_file.h"

namespace attend {

using Json = nlohmann::json;

absl::Status WrongField(const std::string& path, absl::string_view key,
                        const Json& value, absl::string_view expected) {
  std::string text =
      value.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 80);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": ", key, " is ", text, ", expected ", expected));
}

absl::StatusOr<Json> LoadObject(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) return Json::object();
  RETURN_IF_ERROR(text.status());
  try {
    Json top = Json::parse(*text, [](int depth, Json::parse_event_t,
                                     const Json&) { return depth < 8; });
    if (!top.is_object()) return WrongField(path, "the top", top, "an object");
    return top;
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", e.what()));
  }
}

absl::Status ReadBool(const std::string& path, const Json& top, const char* key,
                      bool& on) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_boolean()) {
    return WrongField(path, key, *found, "true or false");
  }
  on = found->get<bool>();
  return absl::OkStatus();
}

absl::Status ReadString(const std::string& path, const Json& top,
                        const char* key, std::string& text) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_string()) return WrongField(path, key, *found, "a string");
  text = found->get<std::string>();
  return absl::OkStatus();
}

absl::Status ReadLength(const std::string& path, const Json& top,
                        const char* key, int& length) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_number() || found->get<double>() < 1) {
    return WrongField(path, key, *found, "a positive number");
  }
  const auto value = found->get<double>();
  length = value < 1 << 30 ? static_cast<int>(value) : 0;
  return absl::OkStatus();
}

}  // namespace attend
