#ifndef ATTEND_ENGINE_JSON_JSON_PARSE_H_
#define ATTEND_ENGINE_JSON_JSON_PARSE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Reads JSON. Refuses text above 64 MiB or not in UTF-8, values nested deeper
// than 64, a key that an object has twice (programs would disagree which value
// counts), and numbers outside the range of a double. INVALID_ARGUMENT
// describes the error; `name` is the name of the file.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view name,
                                         absl::string_view text);
// As ParseJson(); the top must be an object.
absl::StatusOr<nlohmann::json> ParseJsonObject(absl::string_view name,
                                               absl::string_view text);
// As ParseJsonObject(), for requests of clients; members of objects keep the
// order of the text. Refuses objects of more than 512 members, which are slow
// to search, more than 262144 strings, lists and objects, which would take
// dozens of times the memory of the text, and more than 2097152 other values.
absl::StatusOr<nlohmann::ordered_json> ParseOrderedJsonObject(
    absl::string_view name, absl::string_view text);

// As ParseJsonObject(), but calls `use` for each member of the top object
// instead of building it, which takes a third of the time for a large object.
// `use` returns false if it has seen the key before, which is an error.
absl::Status ParseMembers(
    absl::string_view name, absl::string_view text,
    absl::FunctionRef<bool(const std::string& key, const nlohmann::json& value)>
        use);

// A value as errors show it: JSON, shortened if it is long.
std::string JsonText(const nlohmann::json& value);
// Shortens a text likewise, as UTF-8. It may be a message of the parser, which
// repeats the last token at any length, with eight bytes for a tab, and may end
// in the middle of a character.
std::string ShortText(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_JSON_PARSE_H_
