#include "server/app/model_loader.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/compute/compute.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// Of no model, with changes that only wait: its thread has not begun.
class ModelLoaderTest : public ::testing::Test {
 protected:
  explicit ModelLoaderTest(ServerOptions options = {})
      : options_(std::move(options)) {}

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

// It may take minutes, and nobody needs it any more.
TEST_F(ModelLoaderTest, WhatIsUnderWayWhenTheServerDrainsIsUnavailable) {
  std::promise<void> begun, go_on;
  loader_.Start([&] {
    begun.set_value();
    go_on.get_future().wait();
  });
  ASSERT_TRUE(Load().ok());
  begun.get_future().wait();
  loader_.Drain();
  EXPECT_EQ(ends_, std::vector{absl::StatusCode::kUnavailable});
  EXPECT_TRUE(loader_.busy());
  go_on.set_value();
  loader_.Stop();
  EXPECT_FALSE(loader_.busy());
  EXPECT_EQ(ends_.size(), 1u);
}

TEST_F(ModelLoaderTest, OnlySoManyWait) {
  for (size_t i = 0; i < ModelLoader::kMaxChanges; ++i) {
    ASSERT_TRUE(Load().ok());
  }
  EXPECT_EQ(Load().code(), absl::StatusCode::kResourceExhausted);
  loader_.Drain();
  EXPECT_EQ(ends_.size(), ModelLoader::kMaxChanges);
}

// Looks into a directory whose models cannot be loaded.
class PollingLoaderTest : public ModelLoaderTest {
 protected:
  PollingLoaderTest() : ModelLoaderTest(Polling()) {}
  ~PollingLoaderTest() override {
    fs::remove_all(options_.model_options.models_dir);
  }

  static ServerOptions Polling() {
    const fs::path directory = fs::path(::testing::TempDir()) /
                               absl::StrCat("attend_polled_", getpid());
    for (const char* name : {"a", "m"}) {
      fs::create_directories(directory / name);
      std::ofstream(directory / name / "config.json") << "{}";
    }
    ServerOptions options;
    options.model_options.models_dir = directory.string();
    options.model_control = ModelControlMode::kPoll;
    options.model_poll_interval = absl::Milliseconds(1);
    std::error_code error;
    options.models = ListModels(directory.string(), error);
    return options;
  }
  std::string Reason(const char* name) {
    return std::string(models_.table().Find(name)->served.status().message());
  }
};

TEST_F(PollingLoaderTest, WhatLackedMemoryAtTheStartIsTriedAgain) {
  models_.Add("a", absl::FailedPreconditionError("wrong files"));
  models_.Add("m", absl::ResourceExhaustedError("no memory"));
  std::promise<void> changed;
  loader_.Start([&changed] { changed.set_value(); });
  EXPECT_EQ(changed.get_future().wait_for(std::chrono::minutes(1)),
            std::future_status::ready);
  loader_.Stop();
  // Models are tried in the order of their names.
  EXPECT_EQ(Reason("a"), "wrong files");
  EXPECT_THAT(Reason("m"), Not(HasSubstr("no memory")));
}

}  // namespace
}  // namespace attend
