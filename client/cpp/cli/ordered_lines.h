#ifndef ATTEND_CLIENT_CPP_CLI_ORDERED_LINES_H_
#define ATTEND_CLIENT_CPP_CLI_ORDERED_LINES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attend {

// A line of the input.
struct Line {
  int64_t number = 0;  // from 1
  std::string text;
};

// For each line of a batch its result: a text to print, or an error.
using LineResults = std::vector<absl::StatusOr<std::string>>;

// The functions that turn lines into results. One thread at a time calls
// `next`, one at a time calls `emit`, and several at once call `work`.
struct LinePipeline {
  // The next line; nothing after the last one.
  std::function<std::optional<std::string>()> next;
  // Gets `batch` lines, or fewer at the end, but at least one. Returns a result
  // for each.
  std::function<LineResults(const std::vector<Line>&)> work;
  // Takes the result of a line, in the order of the lines.
  std::function<void(const Line&, const absl::StatusOr<std::string>&)> emit;
  int batch = 1;
  // Lines before the first one that `next` gives.
  int64_t lines_before = 0;
};

// Works on up to `in_flight` batches at once, each on a thread. Emits a result
// as soon as the results of all earlier lines are out. Holds at most 4 *
// in_flight * batch lines, so input of any length needs little memory. Returns
// after the last result.
void RunInOrder(int in_flight, const LinePipeline& pipeline);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_ORDERED_LINES_H_
