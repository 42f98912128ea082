#ifndef ATTEND_SERVER_OPENAI_NEUTRAL_FIELDS_H_
#define ATTEND_SERVER_OPENAI_NEUTRAL_FIELDS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/http_call/json_value.h"

namespace attend {

// Readers of fields that change nothing: because they ask for nothing that this
// server has (it stores nothing, and has one tier), or because the one value
// that is accepted says what the server does anyway.

inline constexpr absl::string_view kAnyString = R"({"type": "string"})";
inline constexpr absl::string_view kOnlyFalse = R"({"const": false})";
inline constexpr absl::string_view kOnlyTrue = R"({"const": true})";
inline constexpr absl::string_view kAsksForNothing =
    "Accepted, and changes nothing: the server stores nothing of a call.";
inline constexpr absl::string_view kNotStored =
    "Only false: nothing is stored.";

template <class Target>
absl::Status ReadAnyString(const JsonValue& value, Target&) {
  return value.String().status();
}
template <class Target>
absl::Status ReadAnyObject(const JsonValue& value, Target&) {
  return value.Expect(value.json().is_object(), "an object");
}
template <class Target>
absl::Status ReadFalse(const JsonValue& value, Target&) {
  return value.Expect(value.json() == Json(false), "false");
}
template <class Target>
absl::Status ReadTrue(const JsonValue& value, Target&) {
  return value.Expect(value.json() == Json(true), "true");
}
template <class Target>
absl::Status ReadServiceTier(const JsonValue& value, Target&) {
  return value.Expect(
      value.json() == Json("auto") || value.json() == Json("default"),
      "auto or default");
}

}  // namespace attend

#endif  // ATTEND_SERVER_OPENAI_NEUTRAL_FIELDS_H_
