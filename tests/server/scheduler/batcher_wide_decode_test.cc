// Newcomers that begin with a decode of several rows, which cannot be cut.

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/scheduler/batcher.h"
#include "tests/server/scheduler/request_views.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int kMaxRows = 8;

RequestView WideNewcomer(int64_t order, int rows) {
  return Decoding(order, rows, /*blocks=*/rows);
}

RequestView PromptNewcomer(int64_t order, int rows) {
  return {.order = order,
          .arrival = kNow,
          .work = {.phase = Phase::kPrompt, .rows = rows, .blocks = 1}};
}

std::vector<int> Admitted(const std::vector<RequestView>& waiting,
                          const std::vector<RequestView>& running) {
  Batcher batcher({.max_rows = kMaxRows, .min_encode_rows = 0});
  std::vector<int> indices;
  for (const Decision::Rows& piece :
       batcher.Plan(waiting, running, kPlenty, {}, kNow).admitted) {
    indices.push_back(piece.index);
  }
  return indices;
}

TEST(BatcherWideDecodeTest, ItCountsInTheRowsOfTheStep) {
  const RequestView prompt = PromptNewcomer(1, 6);
  EXPECT_THAT(Admitted({WideNewcomer(2, 3)}, {prompt}), IsEmpty());
  EXPECT_THAT(Admitted({WideNewcomer(2, 2)}, {prompt}), ElementsAre(0));
  EXPECT_THAT(Admitted({prompt, WideNewcomer(2, 3)}, {}), ElementsAre(0));
}

// Beside decodes a step has few rows for prompts: a piece of a prompt fits.
TEST(BatcherWideDecodeTest, ItMayTakeWhatThereIs) {
  EXPECT_THAT(Admitted({WideNewcomer(2, 7)}, {Decoding(1)}), ElementsAre(0));
  EXPECT_THAT(Admitted({WideNewcomer(2, 8)}, {Decoding(1)}), IsEmpty());
}

TEST(BatcherWideDecodeTest, ItIsOvertakenForAWhileOnly) {
  std::vector<RequestView> waiting = {WideNewcomer(2, 8), PromptNewcomer(3, 1)};
  EXPECT_THAT(Admitted(waiting, {Decoding(1)}), ElementsAre(1));
  waiting[0].arrival -= absl::Seconds(1);
  EXPECT_THAT(Admitted(waiting, {Decoding(1)}), IsEmpty());
}

}  // namespace
}  // namespace attend
