#ifndef ATTEND_TESTS_ENGINE_OPS_MATMUL_NAIVE_SPREAD_H_
#define ATTEND_TESTS_ENGINE_OPS_MATMUL_NAIVE_SPREAD_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <vector>

#include "engine/ops/exec/number_group.h"
#include "engine/ops/matmul/spread_block.h"

namespace attend {

// Number i of a block gets the sign (-1)^(i0 i1 + i2 i3 + i4 i5), where i0, i1,
// ... are the bits of i.
inline float SpreadSign(unsigned i) {
  return std::popcount(i & (i >> 1) & 0b010101) % 2 == 0 ? 1.0f : -1.0f;
}

// The spread row of an operand in int8: after the signs, sums and differences
// of all numbers of a block that are 1, 2, 4, ... apart are taken, in f32 as
// the kernels take them: the bits are theirs.
inline std::vector<float> SpreadNaively(const float* row, int columns) {
  const unsigned block = SpreadBlock(columns);
  std::vector<float> spread(row, row + columns);
  for (size_t begin = 0; block > 0 && begin < spread.size(); begin += block) {
    float* const x = spread.data() + begin;
    const float size = static_cast<float>(block);
    for (unsigned i = 0; i < block; ++i) x[i] *= SpreadSign(i) / size;
    for (unsigned stride = 1; stride < block; stride *= 2) {
      for (unsigned i = 0; i < block; ++i) {
        if ((i & stride) != 0) continue;
        const float sum = x[i] + x[i + stride];
        x[i + stride] = x[i] - x[i + stride];
        x[i] = sum;
      }
    }
    for (unsigned i = 0; i < block; ++i) x[i] *= std::sqrt(size);
  }
  return spread;
}

// The row whose spread row is `spread`. The matrix of sums and differences is
// its own inverse, and so are the signs.
inline std::vector<float> UnspreadNaively(std::vector<float> spread) {
  const int columns = static_cast<int>(spread.size());
  const unsigned block = SpreadBlock(columns);
  if (block == 0) return spread;
  for (int i = 0; i < columns; ++i) spread[i] *= SpreadSign(i % block);
  std::vector<float> row = SpreadNaively(spread.data(), columns);
  for (int i = 0; i < columns; ++i) row[i] *= SpreadSign(i % block);
  return row;
}

// The least number of 8 bits that is not below x, which is positive.
inline float UpTo8Bits(float x) {
  int exponent = 0;
  const float fraction = std::frexp(x, &exponent);
  return std::ldexp(std::ceil(fraction * 256) / 256, exponent);
}

// What int8 makes of a row of an operand that is spread: in each group whole
// numbers of steps.
inline void RoundInt8Naively(std::vector<float>& row) {
  for (size_t begin = 0; begin < row.size(); begin += Int8Group::kNumbers) {
    const size_t end =
        std::min<size_t>(row.size(), begin + Int8Group::kNumbers);
    float most = 0;
    for (size_t i = begin; i < end; ++i)
      most = std::max(most, std::abs(row[i]));
    if (most == 0) continue;
    const float step = UpTo8Bits(most / 127);
    for (size_t i = begin; i < end; ++i) {
      row[i] = std::nearbyint(row[i] * (1 / step)) * step;
    }
  }
}

// The same of a row of weights: in each group whole numbers of steps, 255 from
// the lowest to the highest, of the smallest steps with 8 bits that have the
// range (8, or 16 of fewer than 64 numbers) the one with the least errors.
inline void RoundInt8WeightsNaively(std::vector<float>& row) {
  for (size_t begin = 0; begin < row.size(); begin += Int8Group::kNumbers) {
    const size_t end =
        std::min<size_t>(row.size(), begin + Int8Group::kNumbers);
    float lowest = 0;
    float highest = 0;
    for (size_t i = begin; i < end; ++i) {
      lowest = std::min(lowest, row[i]);
      highest = std::max(highest, row[i]);
    }
    if (lowest == highest) continue;
    float step = UpTo8Bits(highest / 255 - lowest / 255);
    std::vector<float> best;
    double least = 0;
    const int steps_tried = end - begin < 64 ? 16 : 8;
    for (int i = 0; i < steps_tried; ++i, step = UpTo8Bits(step * 1.0001f)) {
      const float from = -std::min(255.0f, std::nearbyint(-lowest / step));
      std::vector<float> rounded;
      double error = 0;
      for (size_t j = begin; j < end; ++j) {
        const float steps = row[j] * (1 / step);
        const float whole = std::clamp(std::nearbyint(steps), from, from + 255);
        rounded.push_back(whole * step);
        error += std::pow((steps - whole) * step, 2);
      }
      if (!best.empty() && error >= least) continue;
      best = rounded;
      least = error;
    }
    std::copy(best.begin(), best.end(), row.begin() + ptrdiff_t(begin));
  }
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_OPS_MATMUL_NAIVE_SPREAD_H_
