#ifndef ATTEND_CLIENT_CPP_CLI_PROGRESS_H_
#define ATTEND_CLIENT_CPP_CLI_PROGRESS_H_

#include <cstdint>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace attend {

// "[=====>    ] 50/100 50% 12.5/s", the bar `width` characters wide.
std::string ProgressText(int64_t done, int64_t total, absl::Duration elapsed,
                         int width);

// A progress bar in the last line of the terminal on standard error. Not
// thread-safe.
class Progress {
 public:
  explicit Progress(int64_t total) : total_(total), start_(absl::Now()) {}

  void Show(int64_t done);
  // Makes room for other output.
  void Clear();

 private:
  const int64_t total_;
  const absl::Time start_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_PROGRESS_H_
