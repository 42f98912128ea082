#ifndef ATTEND_SERVER_APP_MODEL_VERSIONS_H_
#define ATTEND_SERVER_APP_MODEL_VERSIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/app/model_sources.h"

namespace attend {

// The highest version in a directory of versions: of its directories whose
// names are numbers from 1 on. Empty: it has none.
std::optional<int64_t> HighestVersion(const std::string& directory);

// The model of that name, as its options and --models-dir say now. `version`:
// that one of a directory of versions; 0: the highest. NOT_FOUND if there is no
// such model or version; or an error of FindModels().
absl::StatusOr<ModelSource> FindModel(const ModelOptions& options,
                                      absl::string_view name, int64_t version);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_VERSIONS_H_
