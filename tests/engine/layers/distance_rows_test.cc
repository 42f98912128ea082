#include "engine/layers/distance_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAre;

// The index that make_log_bucket_position of transformers 5.23 and a clamp give
// for a key this far after the query.
TEST(DistanceRowsTest, SharesVectorsInWiderAndWiderRanges) {
  const DistanceRows rows = {.side = 256, .max_distance = 512};
  struct Case {
    int distance, row;
  };
  for (const auto& [distance, row] : std::vector<Case>{
           {-3000, 511}, {-512, 511}, {-511, 511}, {-510, 511}, {-300, 463},
           {-200, 425},  {-130, 386}, {-129, 385}, {-128, 384}, {-127, 383},
           {-1, 257},    {0, 256},    {1, 255},    {127, 129},  {128, 128},
           {129, 127},   {130, 126},  {200, 87},   {300, 49},   {505, 2},
           {506, 1},     {511, 1},    {512, 0},    {3000, 0}}) {
    EXPECT_EQ(rows.Of(distance), row) << distance;
  }
}

TEST(DistanceRowsTest, TablesEndWhereAllIsAlike) {
  // Row 2 * side would be that of distance -side.
  EXPECT_THAT((DistanceRows{.side = 2}.Table(100)), ElementsAre(3, 3, 2, 1, 0));
  EXPECT_THAT((DistanceRows{.side = 2}.Table(1)), ElementsAre(3, 2, 1));
  const DistanceRows far = {.side = 8, .max_distance = 20};
  EXPECT_EQ(far.Table(1000).size(), 41u);
  EXPECT_EQ(far.Table(1000).front(), 15);
  EXPECT_EQ(far.Table(1000).back(), 0);
}

}  // namespace
}  // namespace attend
