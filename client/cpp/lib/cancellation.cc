#include "client/cpp/lib/cancellation.h"

#include <utility>

namespace attend {

void Cancellation::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
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

}  // namespace attend
