#ifndef ATTEND_CLIENT_CPP_CLI_ERRORS_H_
#define ATTEND_CLIENT_CPP_CLI_ERRORS_H_

#include "absl/status/status.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/ordered_lines.h"

namespace attend {

// How the subcommands report errors. All functions are thread-safe.

// True for errors that every input would get, for instance UNAVAILABLE (no
// server there) and NOT_FOUND (no such model). After such an error it is
// useless to go on.
bool IsShared(absl::StatusCode code);

// Prints "attend: CODE: message" to standard error.
void PrintError(const absl::Status& status);
// Prints "attend: PLACE: CODE: message" to standard error. PLACE says which
// input failed: "argument 2" or "line 7".
void PrintError(const InputOptions& input, const Line& line,
                const absl::Status& status);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_ERRORS_H_
