#ifndef ATTEND_CLIENT_CPP_CLI_FOR_EACH_INPUT_H_
#define ATTEND_CLIENT_CPP_CLI_FOR_EACH_INPUT_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/ordered_lines.h"

namespace attend {

// Calls `work` for each line of `input`, several lines at once, on several
// threads. Returns the exit code of the subcommand.
// * A result is a text that ends with a newline. Results go to standard output
//   in the order of the inputs.
// * An input that fails prints an empty line, so that output lines match input
//   lines. Its error goes to standard error. The exit code is then
//   kExitCallFailed.
// * An error that every input would get (see IsShared) ends the process with
//   kExitCallFailed at once.
// * With InputOptions::output they go to that file instead. If it has the
//   inputs, it is left as it is, and the exit code is kExitUsage.
// * A progress bar is shown if `input` is a file and standard error a terminal.
int ForEachInput(
    const InputOptions& input,
    const std::function<absl::StatusOr<std::string>(const Line&)>& work);

// The same, but `work` gets several lines at a time (see InputOptions::batch)
// and returns a result for each. An input that fails prints `failed`.
int ForEachBatch(
    const InputOptions& input,
    const std::function<LineResults(const std::vector<Line>&)>& work,
    const char* failed = "\n");

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_FOR_EACH_INPUT_H_
