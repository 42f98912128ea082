#include "server/scheduler/request_queue.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/cord.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1000);

std::unique_ptr<Request> Tokens(int n) {
  auto request = std::make_unique<Request>();
  request->source_tokens = n;
  return request;
}

absl::Duration RetryAfter(const absl::Status& status) {
  const auto text = status.GetPayload(kRetryAfterUrl);
  absl::Duration result = absl::ZeroDuration();
  if (text.has_value()) {
    EXPECT_TRUE(absl::ParseDuration(std::string(*text), &result)) << *text;
  }
  return result;
}

TEST(RequestQueueTest, BoundInRequests) {
  RequestQueue queue(2, 1000);
  for (int i = 0; i < 2; ++i) {
    auto request = Tokens(10);
    EXPECT_TRUE(queue.Push(request, kNow).ok());
    EXPECT_EQ(request, nullptr);  // consumed iff OK
  }
  auto refused = Tokens(10);
  const absl::Status status = queue.Push(refused, kNow);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("limit is 2 (max_queued_requests)"));
  EXPECT_GT(RetryAfter(status), absl::ZeroDuration());
  EXPECT_NE(refused, nullptr);
}

TEST(RequestQueueTest, BoundInTokens) {
  RequestQueue queue(100, 50);
  auto a = Tokens(40);
  auto b = Tokens(11);
  auto c = Tokens(10);
  EXPECT_TRUE(queue.Push(a, kNow).ok());
  const absl::Status status = queue.Push(b, kNow);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("limit is 50 (max_queued_tokens)"));
  EXPECT_TRUE(queue.Push(c, kNow).ok());
}

TEST(RequestQueueTest, TakenOnesCountUntilTheyDepart) {
  RequestQueue queue(1, 1000);
  auto request = Tokens(10);
  ASSERT_TRUE(queue.Push(request, kNow).ok());
  std::vector<std::unique_ptr<Request>> taken;
  queue.Take(taken);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0]->times.arrival, kNow);
  EXPECT_EQ(queue.depth().requests, 1);
  auto next = Tokens(10);
  EXPECT_FALSE(queue.Push(next, kNow).ok());
  queue.Depart(*taken[0], kNow);
  EXPECT_EQ(queue.depth().requests, 0);
  EXPECT_EQ(queue.depth().tokens, 0);
  EXPECT_TRUE(queue.Push(next, kNow).ok());
  queue.Return(*taken[0]);  // beyond the bound, never refused
  EXPECT_EQ(queue.depth().requests, 2);
  EXPECT_EQ(queue.depth().tokens, 20);
}

TEST(RequestQueueTest, RetryHintFollowsTheRate) {
  RequestQueue queue(4, 1000);
  std::vector<std::unique_ptr<Request>> taken;
  absl::Time now = kNow;
  for (int i = 0; i < 4; ++i) {
    auto request = Tokens(1);
    ASSERT_TRUE(queue.Push(request, now).ok());
  }
  for (int i = 0; i < 50; ++i) {  // one leaves every 200 ms
    std::vector<std::unique_ptr<Request>> arrivals;
    queue.Take(arrivals);
    for (auto& request : arrivals) taken.push_back(std::move(request));
    now += absl::Milliseconds(200);
    queue.Depart(*taken[i], now);
    auto request = Tokens(1);
    ASSERT_TRUE(queue.Push(request, now).ok());
  }
  auto refused = Tokens(1);
  const absl::Duration retry = RetryAfter(queue.Push(refused, now));
  EXPECT_GE(retry, absl::Milliseconds(790));
  EXPECT_LE(retry, absl::Milliseconds(810));
}

TEST(RequestQueueTest, DrainRefusesAndCloseWakes) {
  RequestQueue queue(4, 1000);
  std::thread waiter([&] { EXPECT_FALSE(queue.WaitForWork(false)); });
  queue.Drain();
  auto request = Tokens(1);
  EXPECT_EQ(queue.Push(request, kNow).code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(request, nullptr);
  EXPECT_TRUE(queue.draining());
  queue.Close();
  waiter.join();
}

TEST(RequestQueueTest, WaitUntilEmptyCountsUntilFinish) {
  RequestQueue queue(4, 1000);
  EXPECT_TRUE(queue.WaitUntilEmpty(absl::ZeroDuration()));
  auto request = Tokens(1);
  ASSERT_TRUE(queue.Push(request, kNow).ok());
  EXPECT_FALSE(queue.WaitUntilEmpty(absl::Milliseconds(1)));
  std::thread finisher([&] { queue.Finish(); });
  EXPECT_TRUE(queue.WaitUntilEmpty(absl::InfiniteDuration()));
  finisher.join();
}

TEST(RequestQueueTest, CountsAreConservedUnderConcurrentPushes) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  RequestQueue queue(64, 1 << 20);
  std::atomic<int> accepted = 0;
  std::atomic<int> pushing = kThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        auto request = Tokens(3);
        if (queue.Push(request, kNow).ok()) ++accepted;
      }
      --pushing;
    });
  }
  int taken = 0;
  std::vector<std::unique_ptr<Request>> arrivals;
  bool last = false;
  while (!last) {
    last = pushing == 0;  // what was pushed before is seen below
    queue.Take(arrivals);
    EXPECT_LE(arrivals.size(), 64u);
    for (auto& request : arrivals) queue.Depart(*request, kNow);
    taken += static_cast<int>(arrivals.size());
    arrivals.clear();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, accepted);
  EXPECT_EQ(queue.depth().requests, 0);
  EXPECT_EQ(queue.depth().tokens, 0);
}

}  // namespace
}  // namespace attend
