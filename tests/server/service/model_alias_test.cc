#include "server/service/model_alias.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace attend {
namespace {

using ::testing::HasSubstr;

TEST(ModelAliasTest, EachTargetGetsItsPart) {
  const std::vector<std::vector<int>> cases = {
      {95, 5}, {1, 1, 1}, {99, 1}, {1'000'000, 10'000}, {7}, {2, 0, 3}};
  for (const std::vector<int>& weights : cases) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (const uint64_t first : {uint64_t{0}, uint64_t{12'345}, ~uint64_t{9}}) {
      std::vector<int> counts(weights.size());
      for (uint64_t call = 0; call < 1000; ++call) {
        const size_t target = PickTarget(weights, first + call);
        ASSERT_LT(target, weights.size());
        ++counts[target];
      }
      for (size_t i = 0; i < weights.size(); ++i) {
        EXPECT_NEAR(counts[i], 1000 * weights[i] / sum, 5) << weights[i];
        if (weights[i] == 0) {
          EXPECT_EQ(counts[i], 0);
        }
      }
    }
  }
}

// A client whose every 20th call is another one must not be a canary's only
// client.
TEST(ModelAliasTest, TheTurnsHaveNoPeriod) {
  for (int period = 2; period <= 40; ++period) {
    int canary = 0;
    for (int call = 0; call < 1000; ++call) {
      canary += PickTarget({95, 5}, static_cast<uint64_t>(call) * period) == 1;
    }
    EXPECT_GT(canary, 30) << period;
    EXPECT_LT(canary, 70) << period;
  }
}

TEST(ModelAliasTest, WrongTargetsAreNamed) {
  const auto error_of = [](std::vector<AliasTarget> targets) {
    const absl::Status status =
        ModelAlias{"a", std::move(targets)}.CheckTargets();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(error_of({}), "alias 'a' has 0 targets, must be 1 to 16");
  EXPECT_THAT(error_of(std::vector<AliasTarget>(17)), HasSubstr("17 targets"));
  EXPECT_EQ(error_of({{"m", 0}}),
            "weight of 'm' is 0, must be in [1, 1000000]");
  EXPECT_THAT(error_of({{"m", 1'000'001}}), HasSubstr("is 1000001"));
  EXPECT_EQ(error_of({{"m", 1}, {"m", 2}}),
            "alias 'a' names model 'm' twice, must name a model once");
  EXPECT_TRUE(
      (ModelAlias{"a", {{"m", 1}, {"a", 1'000'000}}}).CheckTargets().ok());
}

}  // namespace
}  // namespace attend
