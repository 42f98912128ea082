#include "server/inference/infer_plan.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/server/inference/inference_fixture.h"

namespace attend {
namespace {

class InferPlanTest : public InferenceFixture {
 protected:
  InferPlan Plan(const InferRequest& request) {
    auto plan = MakeInferPlan(request, service_, *models_.Find("")->served,
                              /*streaming=*/true);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return plan.ok() ? *std::move(plan) : InferPlan();
  }
};

TEST_F(InferPlanTest, APriorityOfOneIsTheHighest) {
  Build({});
  const std::pair<uint64_t, int> levels[] = {
      {0, 0}, {1, 10}, {11, 0}, {21, -10}};
  for (const auto& [level, priority] : levels) {
    for (const bool is_unsigned : {false, true}) {
      InferRequest request = OfTexts({"a"});
      if (is_unsigned) {
        Parameter(request, "priority").set_uint64_param(level);
      } else {
        Parameter(request, "priority").set_int64_param(level);
      }
      const InferPlan plan = Plan(request);
      EXPECT_EQ(
          static_cast<const v1::GenerateRequest&>(*plan.request).priority(),
          priority);
    }
  }
}

TEST_F(InferPlanTest, OnlyATaskThatStreamsIsInParts) {
  Build({});
  InferRequest request = OfTexts({"a"});
  EXPECT_TRUE(Plan(request).in_parts);
  Parameter(request, "stream").set_bool_param(false);
  EXPECT_FALSE(Plan(request).in_parts);
  Parameter(request, "stream").set_bool_param(true);
  Parameter(request, "task").set_string_param("embed");
  EXPECT_FALSE(Plan(request).in_parts);
}

TEST_F(InferPlanTest, ARequestIsForTheModelThatWasFound) {
  Build({});
  EXPECT_EQ(
      static_cast<const v1::GenerateRequest&>(*Plan(OfTexts({"a"})).request)
          .model(),
      "fake");
}

TEST_F(InferPlanTest, ATimeoutIsInMicroseconds) {
  Build({});
  InferRequest request = OfTexts({"a"});
  EXPECT_EQ(Plan(request).timeout, absl::InfiniteDuration());
  Parameter(request, "timeout").set_int64_param(1500);
  EXPECT_EQ(Plan(request).timeout, absl::Microseconds(1500));
  Parameter(request, "timeout").set_int64_param(0);
  EXPECT_EQ(Plan(request).timeout, absl::InfiniteDuration());
}

}  // namespace
}  // namespace attend
