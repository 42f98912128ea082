#include "server/tracing/sampler.h"

#include <gtest/gtest.h>

#include <random>

namespace attend {
namespace {

TraceId RandomId(std::mt19937& random) {
  TraceId id;
  for (uint8_t& byte : id) byte = static_cast<uint8_t>(random());
  return id;
}

TEST(SamplerTest, AParentDecidesIfItIsFollowed) {
  const TraceId id = {1};
  for (const bool sampled : {false, true}) {
    const TraceContext parent = {
        .trace_id = id, .span_id = {2}, .sampled = sampled};
    for (const double share : {0.0, 1.0}) {
      EXPECT_EQ(IsSampled({.follow_parent = true, .share = share}, parent, id),
                sampled);
      EXPECT_EQ(IsSampled({.follow_parent = false, .share = share}, parent, id),
                share == 1);
      EXPECT_EQ(
          IsSampled({.follow_parent = true, .share = share}, std::nullopt, id),
          share == 1);
    }
  }
}

TEST(SamplerTest, AShareOfTheTracesIsChosenByTheirIds) {
  std::mt19937 random(7);
  int chosen = 0;
  for (int i = 0; i < 10000; ++i) {
    const TraceId id = RandomId(random);
    const bool sampled = IsSampled({.share = 0.25}, std::nullopt, id);
    EXPECT_EQ(IsSampled({.share = 0.25}, std::nullopt, id), sampled);
    // What a small share chooses, a larger one does.
    if (sampled) {
      EXPECT_TRUE(IsSampled({.share = 0.5}, std::nullopt, id));
    }
    chosen += sampled;
  }
  EXPECT_NEAR(chosen, 2500, 200);
}

// As OpenTelemetry's SDK for Go does: the upper 63 bits of the second half.
TEST(SamplerTest, TheSecondHalfOfAnIdCounts) {
  TraceId id = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  id[8] = 0x3f;
  EXPECT_TRUE(IsSampled({.share = 0.25}, std::nullopt, id));
  id[8] = 0x40;
  EXPECT_FALSE(IsSampled({.share = 0.25}, std::nullopt, id));
}

}  // namespace
}  // namespace attend
