#ifndef ATTEND_CLIENT_CPP_CLI_OUTPUT_H_
#define ATTEND_CLIENT_CPP_CLI_OUTPUT_H_

#include "absl/strings/string_view.h"

namespace attend {

// Writes to standard output, and on to whatever that is. False, after a message
// on standard error, if it does not take all of it: a full disk, for example.
bool Print(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_OUTPUT_H_
