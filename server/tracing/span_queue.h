#ifndef ATTEND_SERVER_TRACING_SPAN_QUEUE_H_
#define ATTEND_SERVER_TRACING_SPAN_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <vector>

#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "server/tracing/span.h"

namespace attend {

struct SpanQueueOptions {
  size_t max_spans = 2048;       // that wait
  size_t max_batch_spans = 512;  // that are taken at once
  // The longest that a span waits for others of its batch.
  absl::Duration delay = absl::Seconds(5);
};

// Spans on their way from the calls that have ended to the thread that exports
// them. Nobody who adds spans waits for that thread. Thread-safe.
class SpanQueue {
 public:
  // The options have at least one span, and no batch that exceeds the queue.
  explicit SpanQueue(const SpanQueueOptions& options) : options_(options) {}

  // Adds the spans of a call. False: there is no room for all of them, and none
  // is added.
  bool Add(std::vector<Span>&& spans);
  // Waits for a whole batch, or for the delay if anything has come by then, or
  // for Close(), and puts what there is into `batch` instead of what was there;
  // takes no memory if a batch has room in it. Empty: the queue is closed, and
  // nothing is left.
  void Take(std::vector<Span>& batch);
  // From now on nothing is added, and Take() waits no more.
  void Close();

 private:
  const SpanQueueOptions options_;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<Span> spans_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace attend

#endif  // ATTEND_SERVER_TRACING_SPAN_QUEUE_H_
