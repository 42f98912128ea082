#include "client/cpp/cli/progress.h"

#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"

namespace attend {

std::string ProgressText(int64_t done, int64_t total, absl::Duration elapsed,
                         int width) {
  // A file that grows meanwhile has more lines than were counted.
  total = std::max<int64_t>({total, done, 1});
  const auto filled = static_cast<size_t>(done * width / total);
  std::string bar(filled, '=');
  if (filled < static_cast<size_t>(width)) bar += '>';
  bar.resize(width, ' ');
  const double seconds = absl::ToDoubleSeconds(elapsed);
  return absl::StrFormat("[%s] %d/%d %d%% %.1f/s", bar, done, total,
                         done * 100 / total,
                         seconds > 0 ? static_cast<double>(done) / seconds : 0);
}

void Progress::Show(int64_t done) {
  const std::string text =
      ProgressText(done, total_, absl::Now() - start_, /*width=*/30);
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
}

void Progress::Clear() { std::fputs("\r\033[K", stderr); }

}  // namespace attend
