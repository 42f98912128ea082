#ifndef ATTEND_ENGINE_CHECKPOINT_JSON_PARSE_H_
#define ATTEND_ENGINE_CHECKPOINT_JSON_PARSE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Parses text with the limits of JsonFile; `name` stands for the file in
// errors. For this folder's own files.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view name,
                                         absl::string_view text);
// The same, but what is at the top must be an object.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view name,
                                               absl::string_view text);

// A value as an error shows it: JSON, cut when long.
std::string JsonText(const nlohmann::json& value);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_JSON_PARSE_H_
