#ifndef ATTEND_ENGINE_JSON_STRING_LISTS_H_
#define ATTEND_ENGINE_JSON_STRING_LISTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/json/json_file.h"

namespace attend {

// Strings that repeat: the value [[["a", "b"], 2], [["c"], 1]] of a key stands
// for a, b, a, b, c. INVALID_ARGUMENT, which names the file and the key, if the
// value is something else, or if there are more than `most` strings.
absl::StatusOr<std::vector<std::string>> RepeatedStrings(const JsonFile& file,
                                                         absl::string_view key,
                                                         size_t most);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_STRING_LISTS_H_
