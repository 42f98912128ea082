#include "server/app/warm_up.h"

#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <utility>

#include "server/app/served_models.h"
#include "server/observability/metrics.h"
#include "server/scheduler/clock.h"
#include "tests/support/fake_engine.h"
#include "tests/support/fake_tokenizer.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WarmUpTest : public testing::Test {
 protected:
  FakeEngineOptions Counting() {
    FakeEngineOptions options;
    options.on_step = [this](const StepPlan&) { ++steps_; };
    return options;
  }
  void Add(FakeEngineOptions options, bool warm) {
    models_.Add(
        "m",
        Model{.engine = std::make_unique<FakeEngine>(std::move(options)),
              .tokenizer = std::make_unique<FakeTokenizer>()},
        1, warm);
  }

  std::atomic<int> steps_ = 0;
  const SteadyClock clock_;
  StepSignal signal_;
  Metrics metrics_{"test", {}};
  ServedModels models_{SchedulerOptions(), clock_, metrics_, signal_};
};

TEST_F(WarmUpTest, AModelComputesBeforeItIsServed) {
  Add(Counting(), /*warm=*/false);
  EXPECT_EQ(steps_, 0);
  Add(Counting(), /*warm=*/true);
  EXPECT_GT(steps_, 2);
  EXPECT_EQ(models_.ready(), 1);
  // No client's step.
  const std::string page = metrics_.Serialize();
  EXPECT_THAT(page, HasSubstr("attend_running_sequences{model=\"m\"} 0"));
  EXPECT_THAT(page, Not(HasSubstr("attend_step_seconds_count")));
}

TEST_F(WarmUpTest, WhateverTheModelCanDo) {
  for (const int task : {0, 1, 2, 3, 4}) {
    FakeEngineOptions options = Counting();
    options.info.generates = task == 0;
    options.info.embeds = task == 1;
    options.info.classifies = task == 2;
    options.info.fills_masks = task == 3;
    options.info.max_source_tokens = task == 3 ? 1 : 4096;
    const int before = steps_;
    Add(std::move(options), /*warm=*/true);
    EXPECT_EQ(steps_ > before, task < 4) << task;
    EXPECT_EQ(models_.ready(), 1);
  }
}

TEST_F(WarmUpTest, AFailureIsTheModelsFirstCalls) {
  auto engine = std::make_unique<FakeEngine>(Counting());
  engine->FailNextStep(absl::InternalError("broken"));
  models_.Add("m",
              Model{.engine = std::move(engine),
                    .tokenizer = std::make_unique<FakeTokenizer>()},
              1, /*warm=*/true);
  EXPECT_EQ(models_.ready(), 1);
}

}  // namespace
}  // namespace attend
