#include "server/tracing/span_queue.h"

#include <algorithm>
#include <iterator>

namespace attend {

bool SpanQueue::Add(std::vector<Span>&& spans) {
  bool enough;
  {
    MutexLock lock(mutex_);
    if (closed_ || spans_.size() + spans.size() > options_.max_spans) {
      return false;
    }
    spans_.insert(spans_.end(), std::make_move_iterator(spans.begin()),
                  std::make_move_iterator(spans.end()));
    enough = spans_.size() >= options_.max_batch_spans;
  }
  if (enough) changed_.notify_one();
  return true;
}

void SpanQueue::Take(std::vector<Span>& batch) {
  batch.clear();
  MutexLock lock(mutex_);
  do {
    changed_.wait_for(lock, absl::ToChronoNanoseconds(options_.delay),
                      [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
                        return closed_ ||
                               spans_.size() >= options_.max_batch_spans;
                      });
  } while (spans_.empty() && !closed_);
  const auto end =
      spans_.begin() + std::min(spans_.size(), options_.max_batch_spans);
  std::move(spans_.begin(), end, std::back_inserter(batch));
  spans_.erase(spans_.begin(), end);
}

void SpanQueue::Close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace attend
