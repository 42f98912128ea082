#ifndef ATTEND_ENGINE_JSON_JSON_PARSE_H_
#define ATTEND_ENGINE_JSON_JSON_PARSE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Reads JSON with care: at most 64 MiB of UTF-8, nested at most 64 deep, no key
// twice in an object (readers would believe different ones), no number beyond
// a double. INVALID_ARGUMENT says what is wrong; `name` stands for the file.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view name,
                                         absl::string_view text);
// The same, but what is at the top must be an object.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view name,
                                               absl::string_view text);
// The same with the members of objects in their order.
absl::StatusOr<nlohmann::ordered_json> ParseOrderedJsonObject(
    absl::string_view name, absl::string_view text);

// The same, but hands each member to `use` and keeps none: a large object takes
// a third of the time. `use` says whether it had not seen the key before.
absl::Status ParseMembers(
    absl::string_view name, absl::string_view text,
    absl::FunctionRef<bool(const std::string& key, const nlohmann::json& value)>
        use);

// A value as an error shows it: JSON, cut when long.
std::string JsonText(const nlohmann::json& value);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_JSON_PARSE_H_
