#include "server/app/signals.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "absl/time/time.h"

namespace attend {
namespace {

TEST(SignalsTest, ATearDownThatHangsEndsWithStatus0) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Signals signals;
        signals.EndWithin(absl::Seconds(1));
        for (;;) pause();
      },
      testing::ExitedWithCode(0), "");
}

// The thread that loads a model looks at nothing for minutes.
TEST(SignalsTest, AStopAtTheStartEndsABusyProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Signals signals;
        signals.EndAtOnce([] { _exit(7); });
        kill(getpid(), SIGTERM);
        for (;;) pause();
      },
      testing::ExitedWithCode(7), "");
}

TEST(SignalsTest, AStopBeforeThereAreSignalsIsObeyed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        BlockSignals();
        kill(getpid(), SIGINT);
        Signals signals;
        signals.EndAtOnce([] { _exit(7); });
        for (;;) pause();
      },
      testing::ExitedWithCode(7), "");
}

TEST(SignalsTest, AStopAfterTheStartIsOrderly) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Signals signals;
        signals.EndAtOnce([] { _exit(7); });
        signals.Started();
        kill(getpid(), SIGTERM);
        _exit(signals.Wait(absl::Minutes(1)) == SignalRequest::kStop);
      },
      testing::ExitedWithCode(1), "");
}

TEST(SignalsTest, WithoutSignalsTheyEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        BlockSignals();
        kill(getpid(), SIGTERM);
        UnblockSignals();
        for (;;) pause();
      },
      testing::KilledBySignal(SIGTERM), "");
}

// A process that has ended can be sent signals until it is reaped.
TEST(SignalsTest, ChildrenAreReaped) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const pid_t before = fork();
        if (before == 0) _exit(0);
        Signals signals;
        const pid_t later = fork();
        if (later == 0) _exit(0);
        while (kill(before, 0) == 0 || kill(later, 0) == 0) sched_yield();
        _exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace attend
