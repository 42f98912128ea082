#include "engine/ops/matmul/group_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/ops/exec/number_group.h"
#include "engine/tensor/half.h"

namespace attend {
namespace {

constexpr int kMostCode = 15;
constexpr float kLargestHalf = 65504;

// The nearest whole number, ties to even. std::nearbyint() is a call where the
// build's instructions are those of every x86-64. What is below 2^22 alone is
// wanted exactly.
float Nearest(float number) {
  constexpr float kOnlyWhole = 0x1.8p23f;
  return number + kOnlyWhole - kOnlyWhole;
}

// Numbers about 0, as scale * code + min.
struct Line {
  float scale = 0;
  float min = 0;
  float gain = 0;  // the squares of the numbers, less those of the errors
};

// The line through numbers and their codes with the smallest sum of squared
// errors.
Line FitLine(const float* numbers, float inverse) {
  constexpr int kLanes = 8;  // sums that the compiler may compute together
  float codes[kLanes] = {}, squares[kLanes] = {}, sums[kLanes] = {},
        products[kLanes] = {};
  for (int i = 0; i < kGroupNumbers; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float x = numbers[i + lane];
      const float place = x * inverse + (kMostCode / 2.0f + 0.5f);
      const float code = static_cast<float>(static_cast<int>(
          std::min(std::max(place, 0.0f), static_cast<float>(kMostCode))));
      codes[lane] += code;
      squares[lane] += code * code;
      sums[lane] += x;
      products[lane] += x * code;
    }
  }
  const auto total = [](const float* lanes) {
    float sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
    return sum;
  };
  const float code = total(codes);
  const float sum = total(sums);
  const float product = total(products);
  const float spread = kGroupNumbers * total(squares) - code * code;
  if (!(spread > 0)) return {};
  Line line;
  line.scale = (kGroupNumbers * product - code * sum) / spread;
  line.min = (sum - line.scale * code) / kGroupNumbers;
  line.gain = line.scale * product + line.min * sum;
  return line;
}

template <int kBits>
uint8_t CodeAt(const char* group, int column, int i) {
  const uint8_t byte =
      static_cast<uint8_t>(group[WeightGroup<kBits>::ByteOf(column, i)]);
  if constexpr (kBits == 8) return byte;
  return i < kGroupNumbers / 2 ? byte & 0xf : byte >> 4;
}

void SetHalf(char* halfs, int column, uint16_t half) {
  std::memcpy(halfs + sizeof(half) * column, &half, sizeof(half));
}

float HalfAt(const char* halfs, int column) {
  uint16_t half;
  std::memcpy(&half, halfs + sizeof(half) * column, sizeof(half));
  return HalfToFloat(half);
}

void PackFourBits(const FourBitGroup& from, int column, char* group) {
  using Group = WeightGroup<4>;
  SetHalf(group, column, from.scale);
  SetHalf(group + Group::kMins, column, from.min);
  for (int i = 0; i < 16; i += 4) {
    uint32_t low;
    uint32_t high;
    std::memcpy(&low, from.codes + i, sizeof(low));
    std::memcpy(&high, from.codes + 16 + i, sizeof(high));
    low |= high << 4;  // no code has more than 4 bits
    std::memcpy(group + Group::kCodes + i / 4 * Group::kPart + 4 * column, &low,
                sizeof(low));
  }
}

float LargestOf(const float* numbers) {
  float largest = 0;
  for (int i = 0; i < kGroupNumbers; ++i) {
    largest = std::max(largest, std::abs(numbers[i]));
  }
  return largest;
}

// The code of a number in 8 bits. A scale may have been rounded down.
float EightBitCode(float number, float inverse) {
  return std::min(std::max(Nearest(number * inverse), -127.0f), 127.0f);
}

float ErrorOfScale(const float* numbers, float scale) {
  constexpr int kLanes = 8;  // sums that the compiler may compute together
  const float inverse = 1 / scale;
  float errors[kLanes] = {};
  for (int i = 0; i < kGroupNumbers; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float x = numbers[i + lane];
      // Relative to the step: squares of small numbers would vanish.
      const float error = x * inverse - EightBitCode(x, inverse);
      errors[lane] += error * error;
    }
  }
  float sum = 0;
  for (const float error : errors) sum += error;
  return sum * scale * scale;
}

// Of some scales the one with the smallest sum of squared errors.
uint16_t BestScale(const float* numbers) {
  const float largest = LargestOf(numbers);
  uint16_t best = FloatToHalf(largest / 127);
  float least = std::numeric_limits<float>::infinity();
  for (int code = 127; code > 119 && HalfToFloat(best) > 0; --code) {
    const uint16_t half = FloatToHalf(largest / static_cast<float>(code));
    const float error = ErrorOfScale(numbers, HalfToFloat(half));
    if (error >= least) continue;
    least = error;
    best = half;
  }
  return best;
}

void PackEightBits(const float* numbers, int column, char* group) {
  const uint16_t half = BestScale(numbers);
  SetHalf(group, column, half);
  const float scale = HalfToFloat(half);
  const float inverse = scale > 0 ? 1 / scale : 0;
  for (int i = 0; i < kGroupNumbers; ++i) {
    group[WeightGroup<8>::ByteOf(column, i)] = static_cast<char>(
        static_cast<uint8_t>(EightBitCode(numbers[i], inverse) + 128));
  }
}

size_t BytesOfGroup(ComputeType dtype) {
  return dtype == ComputeType::kInt4 ? WeightGroup<4>::kBytes
                                     : WeightGroup<8>::kBytes;
}

bool PackColumn(ComputeType dtype, const float* numbers, int count, int column,
                char* block) {
  for (int i = 0; i < count; i += kGroupNumbers) {
    float filled[kGroupNumbers];
    const int rest = std::min(kGroupNumbers, count - i);
    std::copy_n(numbers + i, rest, filled);
    // Operands have zeros there; equal numbers do not make levels coarser.
    std::fill(filled + rest, filled + kGroupNumbers, filled[0]);
    if (LargestOf(filled) > kLargestHalf) return false;
    if (dtype == ComputeType::kInt4) {
      PackFourBits(RoundToFourBits(filled), column, block);
    } else {
      PackEightBits(filled, column, block);
    }
    block += BytesOfGroup(dtype);
  }
  return true;
}

}  // namespace

FourBitGroup RoundToFourBits(const float* numbers) {
  const auto [least, most] =
      std::minmax_element(numbers, numbers + kGroupNumbers);
  const float middle = *least / 2 + *most / 2;
  const float half_range = *most / 2 - *least / 2;
  float about_zero[kGroupNumbers];
  for (int i = 0; i < kGroupNumbers; ++i) about_zero[i] = numbers[i] - middle;
  // Levels over the whole range, and over less of it: few numbers are at its
  // ends.
  Line best;
  constexpr float kSmallest = 1e-30f;
  for (int i = 0; i < 8 && half_range > kSmallest; ++i) {
    const float range = half_range * (1.0f - 0.04f * static_cast<float>(i));
    const Line line = FitLine(about_zero, kMostCode / 2.0f / range);
    if (line.gain > best.gain) best = line;
  }
  FourBitGroup group = {.scale = FloatToHalf(best.scale),
                        .min = FloatToHalf(best.min + middle)};
  const float scale = HalfToFloat(group.scale);
  const float min = HalfToFloat(group.min);
  for (int i = 0; i < kGroupNumbers && scale > 0; ++i) {
    const float code = Nearest((numbers[i] - min) / scale);
    group.codes[i] = static_cast<uint8_t>(
        std::clamp(code, 0.0f, static_cast<float>(kMostCode)));
  }
  return group;
}

bool PackGroups(ComputeType dtype, const RowSource& weights, int first,
                Matrix floats, char* block) {
  const bool four = dtype == ComputeType::kInt4;
  std::vector<FourBitGroup> groups(GroupsOf(dtype, floats.cols));
  bool read = false;
  for (int c = 0; c < floats.rows; ++c) {
    if (four && weights.ReadFourBits(first + c, absl::MakeSpan(groups))) {
      for (size_t g = 0; g < groups.size(); ++g) {
        PackFourBits(groups[g], c, block + g * BytesOfGroup(dtype));
      }
      continue;
    }
    if (!read) weights.Read(first, floats);
    read = true;
    if (!PackColumn(dtype, floats.row(c), floats.cols, c, block)) return false;
  }
  return true;
}

void ReadGroups(ComputeType dtype, const char* block, int column,
                absl::Span<float> dst) {
  for (size_t i = 0; i < dst.size(); i += kGroupNumbers) {
    const int count =
        static_cast<int>(std::min<size_t>(kGroupNumbers, dst.size() - i));
    const float scale = HalfAt(block, column);
    if (dtype == ComputeType::kInt4) {
      const float min = HalfAt(block + WeightGroup<4>::kMins, column);
      for (int j = 0; j < count; ++j) {
        dst[i + j] = scale * CodeAt<4>(block, column, j) + min;
      }
    } else {
      for (int j = 0; j < count; ++j) {
        dst[i + j] = scale * (CodeAt<8>(block, column, j) - 128);
      }
    }
    block += BytesOfGroup(dtype);
  }
}

}  // namespace attend
