// Newcomers that are held back until their encodes are worth a step.

#include <vector>

#include "gtest/gtest.h"
#include "server/scheduler/batcher.h"
#include "tests/server/scheduler/request_views.h"

namespace attend {
namespace {

// Twenty that decode, in quiet steps of 8 ms: 80 ms is what they lose together
// by an encode of its own.
class BatcherHoldTest : public testing::Test {
 protected:
  BatcherHoldTest() {
    for (int i = 0; i < 20; ++i) running_.push_back(Decoding(i));
    cost_.Observe(20, 0, absl::Milliseconds(8));
  }

  static RequestView Waiting(int64_t order, int rows, absl::Duration waited) {
    RequestView view = Newcomer(order, rows);
    view.arrival = kNow - waited;
    return view;
  }
  size_t Admitted(const std::vector<RequestView>& waiting) {
    return batcher_.Plan(waiting, running_, kPlenty, cost_, kNow)
        .admitted.size();
  }

  Batcher batcher_{{.min_encode_rows = 64}};
  std::vector<RequestView> running_;
  StepCost cost_;
};

TEST_F(BatcherHoldTest, AnEncodeWaitsForCompany) {
  EXPECT_EQ(Admitted({Waiting(50, 10, absl::ZeroDuration())}), 0u);
  // What decodes goes on meanwhile.
  EXPECT_EQ(batcher_.Plan({}, running_, kPlenty, cost_, kNow).decode_rows, 20);
}

TEST_F(BatcherHoldTest, EnoughRowsGoTogether) {
  std::vector<RequestView> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(Waiting(50 + i, 16, absl::ZeroDuration()));
  }
  cost_.Observe(0, 1000, absl::Milliseconds(16));  // room for all of them
  EXPECT_EQ(Admitted(waiting), 0u);
  waiting.push_back(Waiting(53, 16, absl::ZeroDuration()));
  EXPECT_EQ(Admitted(waiting), 4u);
}

TEST_F(BatcherHoldTest, NotMoreThanAStepHasRoomForIsEnough) {
  EXPECT_EQ(Admitted({Waiting(50, 32, absl::ZeroDuration())}), 1u);
}

TEST_F(BatcherHoldTest, WaitingCountsForAllTogether) {
  EXPECT_EQ(Admitted({Waiting(50, 8, absl::Milliseconds(30)),
                      Waiting(51, 8, absl::Milliseconds(30)),
                      Waiting(52, 8, absl::Milliseconds(19))}),
            0u);
  EXPECT_EQ(Admitted({Waiting(50, 8, absl::Milliseconds(30)),
                      Waiting(51, 8, absl::Milliseconds(30)),
                      Waiting(52, 8, absl::Milliseconds(20))}),
            3u);
}

TEST_F(BatcherHoldTest, NobodyWaitsForMoreThanAFewSteps) {
  for (int i = 20; i < 200; ++i) running_.push_back(Decoding(i));
  EXPECT_EQ(Admitted({Waiting(300, 8, absl::Milliseconds(31))}), 0u);
  EXPECT_EQ(Admitted({Waiting(300, 8, absl::Milliseconds(33))}), 1u);
}

TEST_F(BatcherHoldTest, NobodyIsHeldWhileFewDecode) {
  running_.resize(11);
  EXPECT_EQ(Admitted({Waiting(50, 5, absl::ZeroDuration())}), 1u);
}

TEST_F(BatcherHoldTest, ALoneOneStartsAtOnce) {
  running_.clear();
  EXPECT_EQ(Admitted({Waiting(50, 5, absl::ZeroDuration())}), 1u);
}

TEST_F(BatcherHoldTest, JoinsAnEncodeThatIsUnderWay) {
  running_.push_back(Encoding(40, 8));
  EXPECT_EQ(Admitted({Waiting(50, 5, absl::ZeroDuration())}), 1u);
}

TEST_F(BatcherHoldTest, APreemptedOneIsNotHeld) {
  std::vector<RequestView> waiting = {Waiting(50, 5, absl::ZeroDuration())};
  waiting[0].blocks_when_preempted = 8;
  EXPECT_EQ(Admitted(waiting), 1u);
}

// A closed loop of sources of 10 tokens on a machine where a step takes 1 ms,
// 20 us for each decode row, 0.5 ms for any encode and 10 us for each row of
// it. Returns the seconds that 500 of them take.
double ClosedLoopSeconds(const BatcherOptions& options, int in_flight) {
  Batcher batcher(options);
  StepCost cost;
  absl::Time now = kNow;
  std::vector<RequestView> waiting;
  std::vector<RequestView> running;
  int64_t arrived = 0;
  const auto arrive = [&] {
    waiting.push_back(Newcomer(arrived++, 10));
    waiting.back().arrival = now;
  };
  std::vector<int> left(600);  // tokens, [order]
  for (size_t i = 0; i < left.size(); ++i) left[i] = 16 + i * 7 % 32;
  for (int i = 0; i < in_flight; ++i) arrive();
  for (int ended = 0; ended < 500;) {
    const Decision& plan = batcher.Plan(waiting, running, kPlenty, cost, now);
    const absl::Duration took =
        absl::Microseconds(plan.decode_rows > 0 ? 1000 : 0) +
        absl::Microseconds(20) * plan.decode_rows +
        absl::Microseconds(plan.prompt_rows > 0 ? 500 : 0) +
        absl::Microseconds(10) * plan.prompt_rows;
    now += took;
    cost.Observe(plan.decode_rows, plan.prompt_rows, took);
    for (const auto [index, rows] : plan.running) {
      RequestView& view = running[index];
      if (view.work.phase == Phase::kDecode) {
        --left[view.order];
        view.has_decoded = true;
      } else if ((view.work.rows -= rows) == 0) {
        view.work = {.phase = Phase::kDecode, .rows = 1};
      }
    }
    for (const auto [index, rows] : plan.admitted) {
      running.push_back(waiting[index]);
      Work& work = running.back().work;
      if ((work.rows -= rows) == 0) work = {.phase = Phase::kDecode, .rows = 1};
      waiting[index].order = -1;
    }
    std::erase_if(waiting, [](const RequestView& v) { return v.order < 0; });
    const auto gone = std::erase_if(
        running, [&](const RequestView& v) { return left[v.order] == 0; });
    for (size_t i = 0; i < gone; ++i) arrive();
    ended += static_cast<int>(gone);
  }
  return absl::ToDoubleSeconds(now - kNow);
}

TEST(BatcherClosedLoopTest, JointEncodesServeMore) {
  for (const int in_flight : {16, 32, 64}) {
    const double held = ClosedLoopSeconds({.min_encode_rows = 64}, in_flight);
    const double at_once = ClosedLoopSeconds({.min_encode_rows = 1}, in_flight);
    EXPECT_LT(held, 0.98 * at_once) << in_flight << " in flight";
  }
}

TEST(BatcherClosedLoopTest, FewInFlightAreNotHeldUp) {
  for (const int in_flight : {1, 4, 12}) {
    const double held = ClosedLoopSeconds({.min_encode_rows = 64}, in_flight);
    const double at_once = ClosedLoopSeconds({.min_encode_rows = 1}, in_flight);
    EXPECT_LE(held, 1.001 * at_once) << in_flight << " in flight";
  }
}

}  // namespace
}  // namespace attend
