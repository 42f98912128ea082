#include "server/scheduler/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "server/scheduler/scheduler.h"
#include "tests/server/scheduler/recording_listener.h"
#include "tests/support/fake_engine.h"
#include "tests/support/manual_clock.h"

namespace attend {
namespace {

TEST(TurnsTest, OneAtATimeAndInTheOrderOfAsking) {
  Turns turns;
  std::vector<int> order;  // unguarded but for the turns
  std::vector<std::thread> threads;
  Turns::Place first(turns);
  EXPECT_FALSE(first.Take({}));
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Turns::Place place(turns);
      EXPECT_TRUE(place.Take({}));
      order.push_back(i);
      place.EndStep(0);
    });
    while (turns.unfinished() < 2 + i) std::this_thread::yield();
  }
  EXPECT_TRUE(order.empty());
  first.EndStep(0);
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(turns.unfinished(), 0);
}

TEST(TurnsTest, ManyTakeManyTurns) {
  Turns turns;
  int64_t count = 0;  // unguarded but for the turns
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      Turns::Place place(turns);
      for (int turn = 0; turn < 1000; ++turn) {
        place.Take({});
        ++count;
        // Some keep the turn for several steps, and some have pauses.
        place.EndStep(1e-4 * (turn % 7));
        if (turn % 5 == i) place.Pass();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4000);
}

// The turn is not lost with a worker that has it between two steps.
TEST(TurnsTest, APlaceThatGoesPassesItsTurn) {
  Turns turns;
  Turns::Place stays(turns);
  {
    Turns::Place goes(turns);
    EXPECT_FALSE(goes.Take({}));
    goes.EndStep(0);
    EXPECT_EQ(turns.unfinished(), 1);
  }
  EXPECT_FALSE(stays.Take({}));
}

// While one has the turn between two steps, another one may come that is before
// it.
TEST(TurnsTest, AKeptTurnIsLeftToOneWithLess) {
  Turns turns;
  Turns::Place first(turns);
  EXPECT_FALSE(first.Take({}));
  first.EndStep(1);
  bool took = false;  // unguarded but for the turns
  std::thread second([&] {
    Turns::Place place(turns);
    EXPECT_TRUE(place.Take({}));
    took = true;
    place.EndStep(1);
  });
  while (turns.unfinished() < 2) std::this_thread::yield();
  EXPECT_TRUE(first.Take({}));
  EXPECT_TRUE(took);
  first.Pass();
  second.join();
}

// Two models on one machine, each with work for many steps: which of them each
// step belongs to, in order. In each step the other one waits for its turn.
TEST(TurnsTest, BusyModelsTakeStepsByTurns) {
  constexpr int kTokens = 100;
  constexpr int kSteps = 1 + kTokens;  // an encode, and a token each
  ManualClock clock;
  Turns turns;
  std::vector<int> steps;  // unguarded but for the turns
  std::vector<std::unique_ptr<FakeEngine>> engines;
  for (int i = 0; i < 2; ++i) {
    FakeEngineOptions options;
    options.on_step = [&turns, &steps, i](const StepPlan&) {
      steps.push_back(i);
      const bool other_ended =
          std::count(steps.begin(), steps.end(), 1 - i) == kSteps;
      while (!other_ended && turns.unfinished() < 2) std::this_thread::yield();
    };
    engines.push_back(std::make_unique<FakeEngine>(options));
  }
  Scheduler one({}, *engines[0], clock, turns, nullptr);
  Scheduler two({}, *engines[1], clock, turns, nullptr);
  RecordingListener listeners[2];
  {
    // Both have asked before either gets on.
    Turns::Place hold(turns);
    hold.Take({});
    for (int i = 0; i < 2; ++i) {
      auto request =
          MakeRequest(*engines[i], listeners[i], FakeTask{.tokens = kTokens});
      ASSERT_TRUE((i == 0 ? one : two).Submit(request).ok());
      while (turns.unfinished() < 2 + i) std::this_thread::yield();
    }
    EXPECT_TRUE(steps.empty());
  }
  for (RecordingListener& listener : listeners) {
    EXPECT_TRUE(listener.Wait().ok());
  }
  Turns::Place after(turns);
  after.Take({});
  ASSERT_EQ(steps.size(), 2 * kSteps);
  for (int i = 0; i < 2 * kSteps; ++i) EXPECT_EQ(steps[i], i % 2) << i;
}

// What arrives while another model computes is in the next step of its own.
TEST(TurnsTest, AStepIsPlannedWhenItsTurnHasCome) {
  ManualClock clock;
  Turns turns;
  std::vector<size_t> pieces;  // of each step
  FakeEngineOptions options;
  options.on_step = [&](const StepPlan& plan) {
    pieces.push_back(plan.pieces.size());
    clock.Advance(absl::Milliseconds(1));
  };
  FakeEngine engine(options);
  absl::Duration measured;  // by the scheduler's thread, until it has ended
  RecordingListener listeners[3];
  {
    Scheduler scheduler({}, engine, clock, turns,
                        [&](const StepReport& report) {
                          if (report.rows > 0) measured = report.duration;
                        });
    {
      Turns::Place other(turns);
      other.Take({});
      for (RecordingListener& listener : listeners) {
        auto request = MakeRequest(engine, listener, FakeTask{.tokens = 2});
        ASSERT_TRUE(scheduler.Submit(request).ok());
        while (turns.unfinished() < 2) std::this_thread::yield();
      }
      clock.Advance(absl::Seconds(1));  // that the other one takes
    }
    for (RecordingListener& listener : listeners) {
      EXPECT_TRUE(listener.Wait().ok());
    }
  }
  EXPECT_THAT(pieces, testing::ElementsAre(3, 3, 3));
  // The time of a step is its own, without the wait.
  EXPECT_EQ(measured, absl::Milliseconds(1));
}

}  // namespace
}  // namespace attend
