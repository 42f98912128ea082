#include "client/cpp/lib/cancellation.h"

#include <algorithm>
#include <utility>

namespace attend {

void Cancellation::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
  if (cancel_) cancel_();
}

bool Cancellation::Enter(std::function<void()> cancel) {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancel_ = std::move(cancel);
  return !cancelled_;
}

void Cancellation::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancel_ = nullptr;
}

bool Cancellation::Sleep(absl::Duration time) {
  // So that the sum with the time of day has room.
  const auto bounded = std::min(time, absl::Hours(24 * 365));
  std::unique_lock<std::mutex> lock(mutex_);
  return !changed_.wait_for(lock, absl::ToChronoNanoseconds(bounded),
                            [this] { return cancelled_; });
}

}  // namespace attend
