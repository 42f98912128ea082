#ifndef ATTEND_SERVER_APP_MODEL_VERSIONS_H_
#define ATTEND_SERVER_APP_MODEL_VERSIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/app/model_sources.h"

namespace attend {

// The highest version in a directory of versions: of its directories whose
// names are numbers from 1 on. Empty: it has none.
std::optional<int64_t> HighestVersion(const std::string& directory);

// The model of that name, which may be that of a version (see
// ParseVersionName()): one of --model as it was `at_start`, or what
// `models_dir` (empty: there is none) has now, with the draft model and the
// shortlist that the options gave the name. `version`: that one of a directory
// of versions; 0: the highest. NOT_FOUND: there is no such model or version;
// FAILED_PRECONDITION: what models_dir has cannot be loaded. Errors name no
// path and no other model.
absl::StatusOr<ModelSource> FindModel(const std::vector<ModelSource>& at_start,
                                      const std::string& models_dir,
                                      absl::string_view name, int64_t version);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_MODEL_VERSIONS_H_
