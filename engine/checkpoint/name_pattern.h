#ifndef ATTEND_ENGINE_CHECKPOINT_NAME_PATTERN_H_
#define ATTEND_ENGINE_CHECKPOINT_NAME_PATTERN_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The digits that stand for "{}" if `name` fits `pattern`; "" if there is no
// "{}".
std::optional<std::string> MatchPattern(absl::string_view pattern,
                                        absl::string_view name);

// The pattern with `layer` in the place of "{}".
std::string FillPattern(absl::string_view pattern, absl::string_view layer);

// True if `name` fits a pattern in which "*", of which there is one, stands for
// any text.
bool MatchesStar(absl::string_view pattern, absl::string_view name);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_NAME_PATTERN_H_
