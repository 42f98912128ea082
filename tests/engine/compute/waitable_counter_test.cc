#include "engine/compute/waitable_counter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace attend {
namespace {

// Without spinning every wait sleeps; with an hour of it none does.
const std::chrono::microseconds kSpins[] = {std::chrono::microseconds(0),
                                            std::chrono::hours(1)};

// A wake-up that gets lost makes this hang.
TEST(WaitableCounterTest, TwoTakeTurns) {
  for (const std::chrono::microseconds spin : kSpins) {
    WaitableCounter turn(spin);
    int written = 0;  // by who has the turn
    const auto play = [&](uint32_t parity) {
      for (uint32_t i = parity; i < 2000; i += 2) {
        turn.Await([i](uint32_t now) { return now == i; });
        ++written;
        turn.Add(1);
        turn.Wake();
      }
    };
    std::thread other(play, 1);
    play(0);
    other.join();
    EXPECT_EQ(written, 2000) << spin.count();
  }
}

TEST(WaitableCounterTest, WakesAllWhoWait) {
  WaitableCounter gate(kSpins[0]);
  WaitableCounter passed(kSpins[0]);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      gate.Await([](uint32_t open) { return open == 1; });
      if (passed.Add(1) == 4) passed.Wake();
    });
  }
  gate.Add(1);
  gate.Wake();
  passed.Await([](uint32_t count) { return count == 4; });
  for (std::thread& thread : threads) thread.join();
}

TEST(WaitableCounterTest, WhatIsTrueIsNotWaitedFor) {
  WaitableCounter number(kSpins[0]);
  number.Store(7);
  number.Await([](uint32_t now) { return now == 7; });
  EXPECT_EQ(number.Add(-7), 0u);
}

}  // namespace
}  // namespace attend
