#include "engine/layers/rotary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace attend {
namespace {

// cos and sin of position * inv_freq, as transformers computes them in float32.
TEST(RotaryTest, AnglesAreThoseOfTheReference) {
  const struct {
    int head_dim;
    float theta;
    int position;
    int i;
    float cos;
    float sin;
  } cases[] = {
      {64, 10000, 0, 31, 1.0f, 0.0f},
      {64, 10000, 1, 0, 0.540302336f, 0.841470957f},
      {64, 10000, 1, 16, 0.999949992f, 0.00999983307f},
      {64, 10000, 17, 1, 0.983514309f, 0.180830449f},
      {64, 10000, 511, 16, 0.387216508f, -0.921988785f},
      {64, 10000, 8191, 0, -0.646390498f, -0.763006806f},
      {64, 10000, 8191, 1, -0.842082798f, -0.539348304f},
      {64, 10000, 8191, 16, 0.973987579f, 0.226601541f},
      {64, 10000, 8191, 31, 0.460456073f, 0.887682498f},
      {6, 160000, 3, 2, 0.999999464f, 0.00101790612f},
      {6, 160000, 1000, 0, 0.562379062f, 0.826879561f},
      {6, 160000, 1000, 1, 0.909215152f, -0.416326582f},
  };
  for (const auto& c : cases) {
    std::vector<float> frequencies;
    for (int i = 0; i < c.head_dim; i += 2) {
      frequencies.push_back(
          1 / std::pow(c.theta, static_cast<float>(i) / c.head_dim));
    }
    const Rotary rotary({frequencies}, c.position + 1);
    RotaryScratch scratch;
    const RowAngles angles = rotary.Of(c.position, 0, scratch);
    EXPECT_NEAR(angles.cos[c.i], c.cos, 2e-7) << c.position << " " << c.i;
    EXPECT_NEAR(angles.sin[c.i], c.sin, 2e-7) << c.position << " " << c.i;
  }
}

TEST(RotaryTest, WhatIsTurnedHasTheMagnitude) {
  const std::vector<float> frequencies = {1, 0.1f};
  const Rotary plain({frequencies}, 3);
  const Rotary larger({frequencies, 1.5f}, 3);
  RotaryScratch scratch;
  for (int position = 0; position < 3; ++position) {
    const RowAngles a = plain.Of(position, 0, scratch);
    const RowAngles b = larger.Of(position, 0, scratch);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(b.cos[i], a.cos[i] * 1.5f);
      EXPECT_EQ(b.sin[i], a.sin[i] * 1.5f);
    }
  }
}

void ExpectAngles(const Rotary& rotary, int position, int length,
                  const std::vector<double>& frequencies) {
  SCOPED_TRACE(testing::Message() << position << " of " << length);
  RotaryScratch scratch;
  const RowAngles angles = rotary.Of(position, length, scratch);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    EXPECT_NEAR(angles.cos[i], std::cos(position * frequencies[i]), 2e-5);
    EXPECT_NEAR(angles.sin[i], std::sin(position * frequencies[i]), 2e-5);
  }
}

TEST(RotaryTest, LongSequencesHaveTheOtherFrequencies) {
  RotarySpec spec{{1, 0.1f}};
  spec.original_positions = 5;
  spec.long_frequencies = {0.5f, 0.01f};
  const Rotary rotary(spec, 9);
  for (int length = 1; length <= 9; ++length) {
    for (int position = 0; position < length; ++position) {
      ExpectAngles(rotary, position, length,
                   length <= 5 ? std::vector<double>{1, 0.1}
                               : std::vector<double>{0.5, 0.01});
    }
  }
}

// Of 10 positions that were stretched to 30.
RotarySpec Dynamic() {
  RotarySpec spec{RotaryFrequencies(100, 6)};
  spec.original_positions = 10;
  spec.theta = 100;
  spec.factor = 3;
  return spec;
}

TEST(RotaryTest, DynamicFrequenciesAreThoseOfTheLength) {
  const Rotary rotary(Dynamic(), 30);
  for (int length = 1; length <= 30; ++length) {
    const double stretch = 3 * std::max(length, 10) / 10.0 - 2;
    const double theta = 100 * std::pow(stretch, 6.0 / 4.0);
    for (int position = 0; position < length; ++position) {
      ExpectAngles(rotary, position, length,
                   {1, std::pow(theta, -2.0 / 6), std::pow(theta, -4.0 / 6)});
    }
  }
}

TEST(RotaryTest, WhatTheScratchHeldBeforeDoesNotShow) {
  const Rotary rotary(Dynamic(), 30);
  RotaryScratch used;
  for (int length = 11; length <= 30; ++length) {
    for (int position = 0; position < length; ++position) {
      RotaryScratch fresh;
      const RowAngles a = rotary.Of(position, length, used);
      const RowAngles b = rotary.Of(position, length, fresh);
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(a.cos[i], b.cos[i]);
        EXPECT_EQ(a.sin[i], b.sin[i]);
      }
    }
  }
}

TEST(RotarySpecTest, TheLengthThatARowHasFrequenciesOf) {
  const RotarySpec grows = Dynamic();
  EXPECT_EQ(grows.LengthOf(0, 7, 9), 7);
  EXPECT_EQ(grows.LengthOf(6, 7, 9), 7);
  EXPECT_EQ(grows.LengthOf(7, 7, 9), 8);
  EXPECT_EQ(grows.LengthOf(20, 7, 21), 21);
  EXPECT_EQ(grows.FrequencyKind(10, 30), 0);
  EXPECT_EQ(grows.FrequencyKind(11, 30), 11);
  RotarySpec whole = grows;
  whole.long_frequencies = grows.frequencies;
  EXPECT_EQ(whole.LengthOf(0, 7, 9), 9);
  EXPECT_EQ(whole.FrequencyKind(3, 10), 0);
  EXPECT_EQ(whole.FrequencyKind(3, 11), 1);
  EXPECT_EQ(whole.FrequencyKind(12, 12), 1);
  RotarySpec kept = whole;
  kept.recomputes = false;
  EXPECT_EQ(kept.LengthOf(6, 7, 19), 7);
  EXPECT_EQ(kept.LengthOf(10, 7, 19), 11);
  EXPECT_EQ(kept.FrequencyKind(3, 11), 0);
  EXPECT_EQ(kept.FrequencyKind(12, 30), 1);
}

}  // namespace
}  // namespace attend
