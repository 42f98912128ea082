#include "server/app/model_loader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "absl/status/status.h"
#include "engine/compute/compute.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

// Of no model, with changes that only wait: its thread has not begun.
class ModelLoaderTest : public ::testing::Test {
 protected:
  absl::Status Load() {
    return loader_.Submit(
        {.kind = ModelChange::Kind::kLoad, .name = "m"},
        [this](const absl::Status& status) { ends_.push_back(status.code()); });
  }

  const ServerOptions options_;
  Compute compute_{{.threads = 1}};
  Metrics metrics_{"0", {}};
  const SteadyClock clock_;
  StepSignal signal_;
  ServedModels models_{options_.scheduler, clock_, metrics_, signal_};
  Log log_{options_.log, STDERR_FILENO};
  std::vector<absl::StatusCode> ends_;
  ModelLoader loader_{{options_, compute_, models_, metrics_, log_}, signal_};
};

TEST_F(ModelLoaderTest, WhatWaitsWhenTheServerDrainsIsUnavailable) {
  ASSERT_TRUE(Load().ok());
  ASSERT_TRUE(Load().ok());
  EXPECT_TRUE(ends_.empty());
  loader_.Drain();
  EXPECT_EQ(ends_,
            std::vector<absl::StatusCode>(2, absl::StatusCode::kUnavailable));
  EXPECT_EQ(Load().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ends_.size(), 2u);
}

TEST_F(ModelLoaderTest, OnlySoManyWait) {
  for (size_t i = 0; i < ModelLoader::kMaxChanges; ++i) {
    ASSERT_TRUE(Load().ok());
  }
  EXPECT_EQ(Load().code(), absl::StatusCode::kResourceExhausted);
  loader_.Drain();
  EXPECT_EQ(ends_.size(), ModelLoader::kMaxChanges);
}

}  // namespace
}  // namespace attend
