#ifndef ATTEND_SERVER_APP_ALIAS_OPTIONS_H_
#define ATTEND_SERVER_APP_ALIAS_OPTIONS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "server/app/model_sources.h"
#include "server/service/model_alias.h"

namespace attend {

// The aliases that the options name. Their targets are among `sources`, or are
// versions of those, "m@2", which are added to `sources`. INVALID_ARGUMENT
// names the option and its value.
absl::StatusOr<std::vector<ModelAlias>> FindAliases(
    const ModelOptions& options, std::vector<ModelSource>& sources);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_ALIAS_OPTIONS_H_
