#include "engine/compute/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/compute/compute.h"

namespace attend {
namespace {

TEST(IsaTest, NamesAreParsed) {
  for (Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni,
                  Isa::kAvx512Bf16, Isa::kAmx}) {
    const absl::StatusOr<Isa> parsed = ParseIsa(IsaName(isa));
    ASSERT_TRUE(parsed.ok()) << IsaName(isa);
    EXPECT_EQ(*parsed, isa);
  }
}

TEST(IsaTest, UnknownNameIsRefusedWithTheKnownOnes) {
  const absl::StatusOr<Isa> parsed = ParseIsa("sse9");
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(parsed.status().message()),
              testing::AllOf(testing::HasSubstr("sse9"),
                             testing::HasSubstr("avx512_vnni")));
}

TEST(ComputeTest, InstructionsAreCapped) {
  EXPECT_EQ(Compute({.threads = 1, .max_isa = Isa::kBaseline}).isa(),
            Isa::kBaseline);
  EXPECT_EQ(Compute({.threads = 1}).isa(), DetectIsa());
}

TEST(ComputeTest, ScratchGrowsAndNeverShrinks) {
  Compute compute({.threads = 2});
  compute.ReserveScratch(100);
  compute.ReserveScratch(10);
  for (int member : {0, 1}) EXPECT_EQ(compute.scratch(member).size(), 100u);
  EXPECT_NE(compute.scratch(0).data(), compute.scratch(1).data());
}

TEST(ComputeTest, AMemberAloneIsATeamOfOneWithThatMembersScratch) {
  Compute compute({.threads = 2});
  compute.ReserveScratch(100);
  EXPECT_EQ(compute.first_member(), 0);
  for (int member : {0, 1}) {
    Compute& alone = compute.alone(member);
    EXPECT_EQ(alone.team().size(), 1);
    EXPECT_EQ(alone.first_member(), member);
    EXPECT_EQ(alone.scratch(0).data(), compute.scratch(member).data());
    EXPECT_EQ(&alone.whole(), &compute);
    EXPECT_EQ(&alone.op_state(), &compute.op_state());
    EXPECT_EQ(alone.isa(), compute.isa());
  }
  Compute one({.threads = 1});
  EXPECT_EQ(&one.alone(0), &one);
}

}  // namespace
}  // namespace attend
