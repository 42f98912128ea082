#ifndef ATTEND_CLIENT_CPP_CLI_ORDERED_LINES_H_
#define ATTEND_CLIENT_CPP_CLI_ORDERED_LINES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attend {

struct Line {
  int64_t number = 0;  // from 1
  std::string text;
};

// One for each line of a batch.
using LineResults = std::vector<absl::StatusOr<std::string>>;

// How lines become results. `next` (nothing: no more) and `emit` are called by
// one thread at a time, `work` by several at once.
struct LinePipeline {
  std::function<std::optional<std::string>()> next;
  // Gets `batch` lines, at the end fewer, but at least one.
  std::function<LineResults(const std::vector<Line>&)> work;
  std::function<void(const Line&, const absl::StatusOr<std::string>&)> emit;
  int batch = 1;
};

// Works on up to `in_flight` batches at once and emits the results in the order
// of the lines, each as soon as those before it are out. At most four times as
// many lines are held, so input of any length needs little memory. Returns
// after the last result.
void RunInOrder(int in_flight, const LinePipeline& pipeline);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_ORDERED_LINES_H_
