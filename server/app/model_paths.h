#ifndef ATTEND_SERVER_APP_MODEL_PATHS_H_
#define ATTEND_SERVER_APP_MODEL_PATHS_H_

#include <string>

#include "absl/status/status.h"
#include "server/app/model_sources.h"

namespace attend {

// The absolute path of a directory or file, without a slash at its end. Errors
// about files in the directory then begin with this path.
std::string AbsoluteDirectory(const std::string& directory);

// An error of loading from an AbsoluteDirectory(), in the form that clients may
// see: it names files, but not the directory.
absl::Status WithoutDirectory(const absl::Status& status,
                              const std::string& directory);
// The same of all files of a model: its draft model's and its shortlist too.
absl::Status WithoutDirectories(const absl::Status& status,
                                const ModelSource& source);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_PATHS_H_
