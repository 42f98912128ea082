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

TEST(ComputeTest, OneMemberAloneIsATeamOfOne) {
  Compute compute({.threads = 2, .max_isa = Isa::kBaseline});
  EXPECT_EQ(compute.alone().team().size(), 1);
  EXPECT_EQ(compute.alone().isa(), Isa::kBaseline);
  EXPECT_EQ(&compute.alone().alone(), &compute.alone());
}

}  // namespace
}  // namespace attend
