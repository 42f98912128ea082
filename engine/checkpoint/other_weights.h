#ifndef ATTEND_ENGINE_CHECKPOINT_OTHER_WEIGHTS_H_
#define ATTEND_ENGINE_CHECKPOINT_OTHER_WEIGHTS_H_

#include <string>

#include "absl/status/status.h"

namespace attend {

// NOT_FOUND for a directory without weights that can be loaded: says which
// other format it has, as far as it is known, and what to do.
absl::Status NoWeights(const std::string& directory);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_OTHER_WEIGHTS_H_
