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

std::unique_ptr<Request> TokensOf(uint64_t tenant, int n) {
  auto request = Tokens(n);
  request->tenant.id = tenant;
  return request;
}

// How many requests of n tokens the queue takes of a tenant.
int Fill(RequestQueue& queue, uint64_t tenant, int n) {
  int taken = 0;
  for (auto request = TokensOf(tenant, n); queue.Push(request, kNow).ok();
       request = TokensOf(tenant, n)) {
    ++taken;
  }
  return taken;
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

TEST(RequestQueueTest, ATenantsOwnBound) {
  RequestQueue queue(100, 1000);
  const auto push = [&queue](uint64_t tenant) {
    auto request = TokensOf(tenant, 1);
    request->tenant.max_queued = 2;
    return queue.Push(request, kNow);
  };
  EXPECT_TRUE(push(1).ok());
  EXPECT_TRUE(push(1).ok());
  const absl::Status status = push(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(),
              HasSubstr("2 requests of it wait, limit is 2 (max_queued_inputs "
                        "of the tenant)"));
  EXPECT_TRUE(status.GetPayload(kTenantLimitUrl).has_value());
  EXPECT_GT(RetryAfter(status), absl::ZeroDuration());
  EXPECT_TRUE(push(2).ok());
  std::vector<std::unique_ptr<Request>> arrivals;
  queue.Take(arrivals);
  queue.Depart(*arrivals[0]);
  EXPECT_TRUE(push(1).ok());
}

TEST(RequestQueueTest, OneTenantDoesNotFillTheQueueForOthers) {
  RequestQueue queue(100, 1 << 20);
  EXPECT_EQ(Fill(queue, 1, 1), 100);
  EXPECT_EQ(Fill(queue, 2, 1), 50);
  EXPECT_EQ(Fill(queue, 3, 1), 25);
  EXPECT_EQ(Fill(queue, 1, 1), 0);
  for (uint64_t tenant = 4; tenant < 1000; ++tenant) Fill(queue, tenant, 1);
  EXPECT_LE(queue.depth().requests, 200);
  auto refused = TokensOf(1, 1);
  EXPECT_THAT(queue.Push(refused, kNow).message(),
              HasSubstr("200 requests wait, 100 of them of this tenant, limit "
                        "is 100 (max_queued_requests)"));
}

TEST(RequestQueueTest, NorForTheirTokens) {
  RequestQueue queue(1000, 100);
  EXPECT_EQ(Fill(queue, 1, 10), 10);
  EXPECT_EQ(Fill(queue, 2, 10), 5);
  EXPECT_EQ(Fill(queue, 3, 51), 0);
  EXPECT_EQ(Fill(queue, 3, 25), 1);
  EXPECT_EQ(Fill(queue, 1, 1), 0);
}

TEST(RequestQueueTest, TenantsThatComeTogetherGetTheSame) {
  RequestQueue queue(120, 1 << 20);
  std::vector<int> taken(3);
  for (int i = 0; i < 1000; ++i) {
    auto request = TokensOf(i % 3, 1);
    taken[i % 3] += queue.Push(request, kNow).ok();
  }
  EXPECT_THAT(taken, testing::Each(60));
}

TEST(RequestQueueTest, WhatATenantHasIsForgottenWhenItLeaves) {
  RequestQueue queue(2, 1000);
  std::vector<std::unique_ptr<Request>> taken;
  for (uint64_t tenant = 0; tenant < 100; ++tenant) {
    EXPECT_EQ(Fill(queue, tenant, 1), 2);
    queue.Take(taken);
    for (const auto& request : taken) queue.Depart(*request);
    taken.clear();
  }
  EXPECT_EQ(queue.depth().requests, 0);
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
  queue.Depart(*taken[0]);
  EXPECT_EQ(queue.depth().requests, 0);
  EXPECT_EQ(queue.depth().tokens, 0);
  EXPECT_TRUE(queue.Push(next, kNow).ok());
  queue.Return(*taken[0]);  // beyond the bound, never refused
  EXPECT_EQ(queue.depth().requests, 2);
  EXPECT_EQ(queue.depth().tokens, 20);
}

// All of them leave the queue at once, to run; they end 200 ms after each
// other.
TEST(RequestQueueTest, RetryHintFollowsWhatEnds) {
  RequestQueue queue(40, 1000);
  const auto fill = [&](absl::Time now) {
    for (int i = 0; i < 40; ++i) {
      auto request = Tokens(1);
      ASSERT_TRUE(queue.Push(request, now).ok());
    }
  };
  fill(kNow);
  std::vector<std::unique_ptr<Request>> running;
  queue.Take(running);
  for (const auto& request : running) queue.Depart(*request);
  absl::Time now = kNow;
  for (size_t i = 0; i < running.size(); ++i) {
    now += absl::Milliseconds(200);
    queue.Finish(now);
  }
  fill(now);
  auto refused = Tokens(1);
  const absl::Duration retry = RetryAfter(queue.Push(refused, now));
  EXPECT_GE(retry, 0.75 * 40 * absl::Milliseconds(200));
  EXPECT_LE(retry, 1.25 * 41 * absl::Milliseconds(200));
}

TEST(RequestQueueTest, CloseWakesAndRefuses) {
  RequestQueue queue(4, 1000);
  std::thread waiter([&] { EXPECT_FALSE(queue.WaitForWork(false)); });
  queue.Close();
  waiter.join();
  auto request = Tokens(1);
  EXPECT_EQ(queue.Push(request, kNow).code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(request, nullptr);
}

TEST(RequestQueueTest, WaitUntilEmptyCountsUntilFinish) {
  RequestQueue queue(4, 1000);
  EXPECT_TRUE(queue.WaitUntilEmpty(absl::ZeroDuration()));
  auto request = Tokens(1);
  ASSERT_TRUE(queue.Push(request, kNow).ok());
  EXPECT_FALSE(queue.WaitUntilEmpty(absl::Milliseconds(1)));
  std::thread finisher([&] { queue.Finish(kNow); });
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
    for (auto& request : arrivals) queue.Depart(*request);
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
