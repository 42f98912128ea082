#ifndef ATTEND_ENGINE_JSON_READ_FILE_H_
#define ATTEND_ENGINE_JSON_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace attend {

// The contents of a regular file of at most 64 MiB. NOT_FOUND if there is no
// such file. Every error names the file.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace attend

#endif  // ATTEND_ENGINE_JSON_READ_FILE_H_
