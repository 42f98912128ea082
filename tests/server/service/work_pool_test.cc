#include "server/service/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

namespace attend {
namespace {

TEST(WorkPoolTest, RefusesWhatIsTooMuchAndRunsWhatItAccepted) {
  std::atomic<int> runs{0};
  std::promise<void> began, go;
  {
    WorkPool pool(1, 2);
    ASSERT_TRUE(pool.Submit([&] {
                      began.set_value();
                      go.get_future().wait();
                      ++runs;
                    })
                    .ok());
    began.get_future().wait();  // it left the queue
    EXPECT_TRUE(pool.Submit([&] { ++runs; }).ok());
    EXPECT_TRUE(pool.Submit([&] { ++runs; }).ok());
    const absl::Status status = pool.Submit([&] { ++runs; });
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find("limit is 2"), std::string::npos);
    go.set_value();
  }
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace attend
