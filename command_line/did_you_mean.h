#ifndef ATTEND_COMMAND_LINE_DID_YOU_MEAN_H_
#define ATTEND_COMMAND_LINE_DID_YOU_MEAN_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// For the end of a message about an unknown word: "; did you mean --port?" with
// the word of `known` that is nearest. Empty if none is near: more than one of
// three letters would have to be added, left out, changed, or swapped with the
// next.
std::string DidYouMean(absl::string_view word,
                       const std::vector<std::string>& known);

}  // namespace attend

#endif  // ATTEND_COMMAND_LINE_DID_YOU_MEAN_H_
