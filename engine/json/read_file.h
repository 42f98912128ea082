#ifndef ATTEND_ENGINE_JSON_READ_FILE_H_
#define ATTEND_ENGINE_JSON_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace attend {

// The contents of a regular file, or of one that a link leads to, of at most
// 64 MiB. Does not wait: what is something else is refused, a pipe too.
// NOT_FOUND if it is missing; every error names it.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_READ_FILE_H_
