#ifndef ATTEND_ENGINE_JSON_READ_FILE_H_
#define ATTEND_ENGINE_JSON_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace attend {

// Returns the contents of a regular file, or of the target of a link, of at
// most 64 MiB. Never blocks: other file types, such as pipes, are refused.
// NOT_FOUND if it is missing; every error names the file.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_READ_FILE_H_
