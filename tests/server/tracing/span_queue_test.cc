#include "server/tracing/span_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "absl/time/clock.h"
#include "tests/support/taken_spans.h"

namespace attend {
namespace {

std::vector<Span> Spans(int count, const std::string& name) {
  std::vector<Span> spans(count);
  for (Span& span : spans) span.name = name;
  return spans;
}

TEST(SpanQueueTest, GivesWholeBatchesInOrder) {
  SpanQueue queue(
      {.max_spans = 10, .max_batch_spans = 3, .delay = absl::Hours(1)});
  EXPECT_TRUE(queue.Add(Spans(2, "a")));
  EXPECT_TRUE(queue.Add(Spans(2, "b")));
  const std::vector<Span> batch = TakenSpans(queue);  // or the test hangs
  ASSERT_EQ(batch.size(), 3);
  EXPECT_EQ(batch[1].name, "a");
  EXPECT_EQ(batch[2].name, "b");
  queue.Close();
  EXPECT_EQ(TakenSpans(queue).size(), 1);
  EXPECT_TRUE(TakenSpans(queue).empty());
}

TEST(SpanQueueTest, AFewWaitForTheDelayOnly) {
  SpanQueue queue({.delay = absl::Milliseconds(1)});
  EXPECT_TRUE(queue.Add(Spans(1, "a")));
  EXPECT_EQ(TakenSpans(queue).size(), 1);
}

TEST(SpanQueueTest, TakesAllSpansOfACallOrNone) {
  SpanQueue queue({.max_spans = 5, .max_batch_spans = 5});
  EXPECT_TRUE(queue.Add(Spans(3, "a")));
  EXPECT_FALSE(queue.Add(Spans(3, "b")));
  EXPECT_TRUE(queue.Add(Spans(2, "c")));
  EXPECT_FALSE(queue.Add(Spans(1, "d")));
  const std::vector<Span> batch = TakenSpans(queue);
  ASSERT_EQ(batch.size(), 5);
  EXPECT_EQ(batch.back().name, "c");
  EXPECT_TRUE(queue.Add(Spans(5, "e")));
}

TEST(SpanQueueTest, ClosingWakesWhoWaits) {
  SpanQueue queue({.delay = absl::Hours(1)});
  std::thread waiting([&] { EXPECT_TRUE(TakenSpans(queue).empty()); });
  absl::SleepFor(absl::Milliseconds(5));
  queue.Close();
  waiting.join();
  EXPECT_FALSE(queue.Add(Spans(1, "late")));
}

}  // namespace
}  // namespace attend
