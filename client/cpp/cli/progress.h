#ifndef ATTEND_CLIENT_CPP_CLI_PROGRESS_H_
#define ATTEND_CLIENT_CPP_CLI_PROGRESS_H_

#include <cstdint>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace attend {

// A text like "[=====>    ] 50/100 50% 12.5/s". The bar is `width` characters
// wide; the rate counts per second.
std::string ProgressText(int64_t done, int64_t total, absl::Duration elapsed,
                         int width);

// A progress bar on the terminal of standard error, in its last line. Not
// thread-safe.
class Progress {
 public:
  explicit Progress(int64_t total) : total_(total), start_(absl::Now()) {}

  // Draws the bar for `done` of the `total` lines.
  void Show(int64_t done);
  // Removes the bar, before other output.
  void Clear();

 private:
  const int64_t total_;
  const absl::Time start_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_PROGRESS_H_
