#ifndef ATTEND_CLIENT_CPP_CLI_COMMAND_INPUTS_H_
#define ATTEND_CLIENT_CPP_CLI_COMMAND_INPUTS_H_

#include <google/protobuf/message.h>

#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/ordered_lines.h"
#include "client/cpp/lib/client.h"

namespace attend {

// What the subcommands that work on lines have in common.

ClientOptions ToClientOptions(const ConnectionOptions& connection);

// Whether all inputs would share an error: server not there, no such model.
bool IsShared(absl::StatusCode code);

// The next line of a stream; takes Windows line ends too.
std::optional<std::string> NextLine(std::istream& stream);

// Prints "attend: CODE: message" to standard error.
void PrintError(const absl::Status& status);

// The same with the place: "argument 2", "line 7".
void PrintError(const InputOptions& input, const Line& line,
                const absl::Status& status);

// Calls `work` for each input of `input`, several at once, and prints what it
// returns (which ends with a newline) in the order of the inputs. An input that
// fails prints an empty line, so that output lines match input lines, and its
// error to standard error; an error that all inputs would share (server not
// there, no such model) ends the process with kExitCallFailed. Shows a progress
// bar on a terminal when reading a file. Returns the exit code.
int ForEachInput(
    const InputOptions& input,
    const std::function<absl::StatusOr<std::string>(const Line&)>& work);

// The same with a batch of inputs at a time. An input that fails prints
// `failed`.
int ForEachBatch(
    const InputOptions& input,
    const std::function<LineResults(const std::vector<Line>&)>& work,
    const char* failed = "\n");

// Makes two arguments the one line that they would be in a file, with a tab
// between. False: there are others than none or two.
bool JoinPair(std::vector<std::string>& arguments);

// All lines of a file, without line ends.
absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& file);

// Adds the token ids of a line, with spaces, tabs or commas between.
absl::Status ParseIds(absl::string_view line, v1::Tokens& tokens);

absl::Status ToAbslStatus(const v1::Status& status);

// One line, with a newline.
std::string ToJsonLine(const google::protobuf::Message& message);

// A line "  log-probability  piece" for each token.
std::string ToLines(
    const google::protobuf::RepeatedPtrField<v1::TokenLogProbs>& tokens);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_COMMAND_INPUTS_H_
