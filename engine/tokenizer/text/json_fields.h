#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_JSON_FIELDS_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_JSON_FIELDS_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

// Fields of a small file of json. Where a field is absent or null a reader
// leaves its argument as it is; errors are INVALID_ARGUMENT and name `path`,
// the field, its value and what was expected.

// The object in `path`; empty if there is no such file. Values nested deeper
// than any that is read are left out.
absl::StatusOr<nlohmann::json> LoadObject(const std::string& path);

absl::Status WrongField(const std::string& path, absl::string_view key,
                        const nlohmann::json& value,
                        absl::string_view expected);
absl::Status ReadBool(const std::string& path, const nlohmann::json& top,
                      const char* key, bool& on);
absl::Status ReadString(const std::string& path, const nlohmann::json& top,
                        const char* key, std::string& text);
// A length in tokens, at least 1; 0 for numbers beyond any length (transformers
// writes 1e30 where there is no limit).
absl::Status ReadLength(const std::string& path, const nlohmann::json& top,
                        const char* key, int& length);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_JSON_FIELDS_H_
