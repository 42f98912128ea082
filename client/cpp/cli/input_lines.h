#ifndef ATTEND_CLIENT_CPP_CLI_INPUT_LINES_H_
#define ATTEND_CLIENT_CPP_CLI_INPUT_LINES_H_

#include <cstddef>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cpp/cli/common_options.h"

namespace attend {

// The next line of a stream, without its end ("\n" or "\r\n"). Nothing at the
// end of the stream.
std::optional<std::string> NextLine(std::istream& stream);

// NOT_FOUND if the file cannot be read, INVALID_ARGUMENT if it is a directory.
absl::Status OpenFile(const std::string& file, std::ifstream& stream);

// Whether both are names of one regular file, which is there: links count, too.
bool IsSameFile(const std::string& one, const std::string& other);

// All lines of a file, without their ends. Errors are those of OpenFile().
absl::StatusOr<std::vector<std::string>> ReadLines(const std::string& file);

// Joins two arguments, TEXT and PAIR, with a tab into the line that a file
// would have. False unless there are no or two arguments.
bool JoinPair(std::vector<std::string>& arguments);

// The lines that a subcommand works on, one after the other: the arguments, or
// the lines of a file, or the lines of standard input. Not thread-safe.
class LineSource {
 public:
  // Borrows `input`. Open() comes before Next().
  explicit LineSource(const InputOptions& input) : input_(input) {}

  // Errors are those of OpenFile().
  absl::Status Open();
  // Nothing after the last line.
  std::optional<std::string> Next();

 private:
  const InputOptions& input_;
  std::ifstream file_;
  size_t next_argument_ = 0;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_INPUT_LINES_H_
