#include "engine/layers/relative_bias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace attend {
namespace {

struct Change {
  int distance;  // from here on
  int bucket;
};

struct Case {
  DistanceBuckets buckets;
  std::vector<Change> changes;  // from -2000 to 2000
};

// T5Attention._relative_position_bucket of transformers 5.23, where the bucket
// changes; MPNet's is the same as its bidirectional one.
const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
      {{32, 128, true},
       {{-2000, 15}, {-90, 14}, {-63, 13}, {-45, 12}, {-31, 11}, {-22, 10},
        {-15, 9},    {-11, 8},  {-7, 7},   {-6, 6},   {-5, 5},   {-4, 4},
        {-3, 3},     {-2, 2},   {-1, 1},   {0, 0},    {1, 17},   {2, 18},
        {3, 19},     {4, 20},   {5, 21},   {6, 22},   {7, 23},   {8, 24},
        {12, 25},    {16, 26},  {23, 27},  {32, 28},  {46, 29},  {64, 30},
        {91, 31}}},
      {{32, 128, false},
       {{-2000, 31}, {-112, 30}, {-98, 29}, {-86, 28}, {-76, 27}, {-66, 26},
        {-58, 25},   {-51, 24},  {-45, 23}, {-39, 22}, {-34, 21}, {-30, 20},
        {-26, 19},   {-23, 18},  {-20, 17}, {-18, 16}, {-15, 15}, {-14, 14},
        {-13, 13},   {-12, 12},  {-11, 11}, {-10, 10}, {-9, 9},   {-8, 8},
        {-7, 7},     {-6, 6},    {-5, 5},   {-4, 4},   {-3, 3},   {-2, 2},
        {-1, 1},     {0, 0}}},
      {{54, 81, true},
       {{-2000, 26}, {-71, 25}, {-62, 24}, {-54, 23}, {-48, 22}, {-42, 21},
        {-36, 20},   {-32, 19}, {-28, 18}, {-24, 17}, {-21, 16}, {-19, 15},
        {-16, 14},   {-14, 13}, {-12, 12}, {-11, 11}, {-10, 10}, {-9, 9},
        {-8, 8},     {-7, 7},   {-6, 6},   {-5, 5},   {-4, 4},   {-3, 3},
        {-2, 2},     {-1, 1},   {0, 0},    {1, 28},   {2, 29},   {3, 30},
        {4, 31},     {5, 32},   {6, 33},   {7, 34},   {8, 35},   {9, 36},
        {10, 37},    {11, 38},  {12, 39},  {13, 40},  {15, 41},  {17, 42},
        {20, 43},    {22, 44},  {25, 45},  {29, 46},  {33, 47},  {37, 48},
        {43, 49},    {49, 50},  {55, 51},  {63, 52},  {72, 53}}},
      {{33, 127, false},
       {{-2000, 32}, {-112, 31}, {-99, 30}, {-88, 29}, {-78, 28}, {-69, 27},
        {-61, 26},   {-54, 25},  {-47, 24}, {-42, 23}, {-37, 22}, {-33, 21},
        {-29, 20},   {-26, 19},  {-23, 18}, {-20, 17}, {-18, 16}, {-15, 15},
        {-14, 14},   {-13, 13},  {-12, 12}, {-11, 11}, {-10, 10}, {-9, 9},
        {-8, 8},     {-7, 7},    {-6, 6},   {-5, 5},   {-4, 4},   {-3, 3},
        {-2, 2},     {-1, 1},    {0, 0}}},
      {{4, 2, true}, {{-2000, 1}, {0, 0}, {1, 3}}},
  };
  return *cases;
}

TEST(RelativeBiasTest, BucketsAreThoseOfTheReference) {
  for (const auto& [buckets, changes] : Cases()) {
    size_t at = 0;
    for (int distance = -2000; distance <= 2000; ++distance) {
      if (at + 1 < changes.size() && distance == changes[at + 1].distance) ++at;
      ASSERT_EQ(buckets.Of(distance), changes[at].bucket)
          << distance << " in " << buckets.buckets << " to "
          << buckets.max_distance;
    }
  }
}

TEST(RelativeBiasTest, EveryDistanceHasTheWeightOfItsBucket) {
  constexpr int kHeads = 3;
  for (const auto& [buckets, changes] : Cases()) {
    std::vector<float> weights(buckets.buckets * kHeads);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5f * i;
    const RelativeBias relative({weights.data(), buckets.buckets, kHeads},
                                buckets);
    const DistanceBias bias = relative.bias();
    ASSERT_GE(bias.stride, bias.Entries());
    for (int head = 0; head < kHeads; ++head) {
      const float* const row = bias.values + head * bias.stride;
      for (int distance = -2000; distance <= 2000; ++distance) {
        const int entry = std::clamp(distance, -bias.Edge(), bias.Edge());
        ASSERT_EQ(row[entry + bias.Edge()],
                  weights[buckets.Of(distance) * kHeads + head])
            << distance;
      }
    }
  }
}

}  // namespace
}  // namespace attend
