#ifndef ATTEND_TESTS_SUPPORT_TAKEN_SPANS_H_
#define ATTEND_TESTS_SUPPORT_TAKEN_SPANS_H_

#include <vector>

#include "server/tracing/span_queue.h"

namespace attend {

// A batch of the queue; what was in the vector before is gone.
inline std::vector<Span> TakenSpans(SpanQueue& queue) {
  std::vector<Span> batch(1);
  queue.Take(batch);
  return batch;
}

}  // namespace attend

#endif  // ATTEND_TESTS_SUPPORT_TAKEN_SPANS_H_
