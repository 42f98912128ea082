#include "server/http_call/json_value.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"
#include "server/http_call/http_status.h"

namespace attend {
namespace {

// Each takes the memory of a hundred bytes of text, with its name.
constexpr size_t kMaxEntries = size_t{1} << 18;

// An error shows little of what the client sent.
std::string Shown(const Json& json) {
  constexpr size_t kMaxShown = 80;
  if (json.is_object()) return "an object";
  if (json.is_array()) return "a list";
  Json shown = json;
  if (json.is_string() &&
      json.get_ref<const std::string&>().size() > kMaxShown) {
    shown = json.get_ref<const std::string&>().substr(0, kMaxShown) + "...";
  }
  // In ASCII. Half a character at the end is replaced.
  return shown.dump(-1, ' ', true, Json::error_handler_t::replace);
}

bool IsJson(absl::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  content_type = absl::StripAsciiWhitespace(content_type);
  return absl::EqualsIgnoreCase(content_type, "application/json");
}

}  // namespace

absl::Status JsonValue::Unexpected(absl::string_view expected) const {
  return FieldError(name_,
                    absl::StrCat("is ", Shown(json_), ", must be ", expected));
}

absl::Status JsonValue::Expect(bool condition,
                               absl::string_view expected) const {
  return condition ? absl::OkStatus() : Unexpected(expected);
}

absl::StatusOr<int64_t> JsonValue::Int(int64_t min, int64_t max) const {
  const std::string expected =
      absl::StrCat("an integer in [", min, ", ", max, "]");
  if (json_.is_number_unsigned()) {
    const uint64_t value = json_.get<uint64_t>();
    RETURN_IF_ERROR(
        Expect(max >= 0 && value <= static_cast<uint64_t>(max) &&
                   (min <= 0 || value >= static_cast<uint64_t>(min)),
               expected));
    return static_cast<int64_t>(value);
  }
  RETURN_IF_ERROR(Expect(json_.is_number(), expected));
  if (json_.is_number_float()) {
    // Some clients write 16.0.
    const double value = json_.get<double>();
    RETURN_IF_ERROR(Expect(
        value == std::floor(value) && std::abs(value) <= 1e15, expected));
  }
  const int64_t value = json_.get<int64_t>();
  RETURN_IF_ERROR(Expect(value >= min && value <= max, expected));
  return value;
}

absl::StatusOr<double> JsonValue::Float(double min, double max) const {
  const bool bounded = max < std::numeric_limits<float>::max();
  const std::string expected =
      bounded ? absl::StrCat("a number in [", min, ", ", max, "]") : "a number";
  RETURN_IF_ERROR(Expect(json_.is_number(), expected));
  const double value = json_.get<double>();
  RETURN_IF_ERROR(Expect(value >= min && value <= max, expected));
  return value;
}

absl::StatusOr<bool> JsonValue::Bool() const {
  RETURN_IF_ERROR(Expect(json_.is_boolean(), "true or false"));
  return json_.get<bool>();
}

absl::StatusOr<std::string> JsonValue::String() const {
  RETURN_IF_ERROR(Expect(json_.is_string(), "a string"));
  return json_.get_ref<const std::string&>();
}

JsonValue JsonValue::Entry(size_t index) const {
  return {json_[index], absl::StrCat(name_, "[", index, "]")};
}

absl::Status JsonValue::ReadIds(
    google::protobuf::RepeatedField<int>& ids) const {
  RETURN_IF_ERROR(Expect(json_.is_array(), "a list"));
  ids.Reserve(ids.size() + static_cast<int>(json_.size()));
  for (size_t i = 0; i < json_.size(); ++i) {
    const auto* id = json_[i].get_ptr<const Json::number_unsigned_t*>();
    if (id != nullptr && *id <= std::numeric_limits<int>::max()) {
      ids.Add(static_cast<int>(*id));
    } else {  // an error, in most cases
      ASSIGN_OR_RETURN(const int64_t number, Entry(i).Int());
      ids.Add(static_cast<int>(number));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<JsonValue>> JsonValue::List() const {
  RETURN_IF_ERROR(Expect(json_.is_array(), "a list"));
  RETURN_IF_ERROR(
      Expect(json_.size() <= kMaxEntries,
             absl::StrCat("a list of at most ", kMaxEntries, " entries")));
  std::vector<JsonValue> entries;
  entries.reserve(json_.size());
  for (size_t i = 0; i < json_.size(); ++i) entries.push_back(Entry(i));
  return entries;
}

absl::StatusOr<std::vector<std::string>> JsonValue::Strings() const {
  if (json_.is_string()) return std::vector{json_.get<std::string>()};
  RETURN_IF_ERROR(Expect(json_.is_array(), "a string or a list of strings"));
  ASSIGN_OR_RETURN(const std::vector<JsonValue> entries, List());
  std::vector<std::string> texts;
  for (const JsonValue& entry : entries) {
    ASSIGN_OR_RETURN(texts.emplace_back(), entry.String());
  }
  return texts;
}

absl::StatusOr<std::vector<JsonValue>> JsonValue::Members() const {
  RETURN_IF_ERROR(Expect(json_.is_object(), "an object"));
  std::vector<JsonValue> members;
  for (const auto& [key, value] : json_.items()) {
    if (value.is_null()) continue;
    members.emplace_back(
        value, name_.empty() ? key : absl::StrCat(name_, ".", key), key.size());
  }
  return members;
}

std::string DumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Json> ParseBody(absl::string_view body,
                               absl::string_view content_type) {
  if (!IsJson(content_type)) {
    return FieldError("Content-Type", "must be application/json");
  }
  return ParseOrderedJsonObject("the body", body);
}

}  // namespace attend
