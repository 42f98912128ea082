#include "engine/layers/rotary.h"

#include <gtest/gtest.h>

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
    const Rotary rotary(frequencies, 1, c.position + 1);
    const RotaryTable table = rotary.table();
    EXPECT_EQ(table.dims, c.head_dim);
    EXPECT_EQ(table.max_positions, c.position + 1);
    const int at = c.position * (c.head_dim / 2) + c.i;
    EXPECT_NEAR(table.cos[at], c.cos, 2e-7) << c.position << " " << c.i;
    EXPECT_NEAR(table.sin[at], c.sin, 2e-7) << c.position << " " << c.i;
  }
}

TEST(RotaryTest, WhatIsTurnedHasTheMagnitude) {
  const std::vector<float> frequencies = {1, 0.1f};
  const Rotary plain(frequencies, 1, 3);
  const Rotary larger(frequencies, 1.5f, 3);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(larger.table().cos[i], plain.table().cos[i] * 1.5f);
    EXPECT_EQ(larger.table().sin[i], plain.table().sin[i] * 1.5f);
  }
}

}  // namespace
}  // namespace attend
