#include "engine/ops/matmul/group_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "engine/ops/exec/number_group.h"
#include "engine/tensor/half.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr ComputeType kTypes[] = {ComputeType::kW8, ComputeType::kInt4};

// A product by random groups. Exact: with scales of which f32 has all products
// and sums exactly.
struct Case {
  Case(ComputeType type, int groups_of_row, int columns, bool exact)
      : dtype(type),
        groups(groups_of_row),
        n(columns),
        src(size_t{kMultiplyRows} * groups),
        weights(size_t(n) * groups * kGroupNumbers) {
    std::mt19937 generator(groups * n);
    const auto draw = [&](int least, int most) {
      return std::uniform_int_distribution(least, most)(generator);
    };
    const auto scale = [&] {
      return exact ? 0.5f : static_cast<float>(draw(1, 99)) / 64;
    };
    for (OperandGroup& group : src) {
      group.scale = scale();
      for (int8_t& code : group.codes) {
        code = static_cast<int8_t>(draw(-127, 127));
        group.sum += code;
      }
    }
    const bool four = dtype == ComputeType::kInt4;
    const size_t bytes = four ? WeightGroup<4>::kBytes : WeightGroup<8>::kBytes;
    packed.resize((n + kBlockColumns - 1) / kBlockColumns * groups * bytes);
    for (int c = 0; c < n; ++c) {
      for (int g = 0; g < groups; ++g) {
        char* const group =
            &packed[size_t(c / kBlockColumns * groups + g) * bytes];
        float* const numbers =
            &weights[(size_t(c) * groups + g) * kGroupNumbers];
        const int column = c % kBlockColumns;
        const float own_scale = scale();
        const float min = four ? static_cast<float>(draw(-9, 9)) : 0;
        WriteHalf(group, column, own_scale);
        if (four) WriteHalf(group + WeightGroup<4>::kMins, column, min);
        for (int i = 0; i < kGroupNumbers; ++i) {
          const int code = four ? draw(0, 15) : draw(0, 255);
          numbers[i] = own_scale * (four ? code : code - 128) + min;
          if (four) {
            group[WeightGroup<4>::kCodes + i % 16 / 4 * WeightGroup<4>::kPart +
                  4 * column + i % 4] |= code << (i / 16 * 4);
          } else {
            group[WeightGroup<8>::kCodes + i / 4 * WeightGroup<8>::kPart +
                  4 * column + i % 4] = static_cast<char>(code);
          }
        }
      }
    }
  }

  static void WriteHalf(char* halfs, int column, float number) {
    const uint16_t half = FloatToHalf(number);
    std::memcpy(halfs + 2 * column, &half, sizeof(half));
  }

  // Rows [first, first + rows) of the product, and a guard behind them.
  std::vector<float> Multiply(Isa isa, int first, int rows) const {
    std::vector<float> dst(size_t(rows) * n + 1, 7);
    GroupKernelFor(dtype, isa)({.src = &src[size_t(first) * groups],
                                .weights = packed.data(),
                                .dst = dst.data(),
                                .rows = rows,
                                .units = groups,
                                .padded_units = groups,
                                .n = n});
    EXPECT_EQ(dst.back(), 7);
    dst.pop_back();
    return dst;
  }

  double Expected(int r, int c) const {
    double sum = 0;
    for (int i = 0; i < groups * kGroupNumbers; ++i) {
      const OperandGroup& x = src[size_t(r) * groups + i / kGroupNumbers];
      sum += double{x.scale} * x.codes[i % kGroupNumbers] *
             weights[size_t(c) * groups * kGroupNumbers + i];
    }
    return sum;
  }

  ComputeType dtype;
  int groups, n;
  std::vector<OperandGroup> src;  // [kMultiplyRows, groups]
  std::vector<float> weights;     // [n, groups * kGroupNumbers]
  std::vector<char> packed;
};

TEST(GroupKernelTest, EqualsTheDefinition) {
  for (const ComputeType dtype : kTypes) {
    for (const auto& [groups, n] : {std::pair(1, 1), {3, 70}, {7, 128}}) {
      const Case test(dtype, groups, n, /*exact=*/true);
      for (const Isa isa : AllIsas()) {
        for (const int rows : {1, 2, 3, 4, 5, 6, 7, 64}) {
          const std::vector<float> dst = test.Multiply(isa, 0, rows);
          for (const int r : {0, rows / 2, rows - 1}) {
            for (int c = 0; c < n; ++c) {
              ASSERT_EQ(dst[size_t(r) * n + c], test.Expected(r, c))
                  << TypeName(dtype) << " with " << IsaName(isa) << ", "
                  << groups << " groups, row " << r << " of " << rows
                  << ", column " << c << " of " << n;
            }
          }
        }
      }
    }
  }
}

// Those with AVX2, too, of which CPUs of all kinds have the same results.
TEST(GroupKernelTest, ARowHasTheSameBitsInAnyCompanyAndForAnyInstructions) {
  for (const ComputeType dtype : kTypes) {
    const Case test(dtype, 9, 150, /*exact=*/false);
    const std::vector<float> all =
        test.Multiply(AllIsas().back(), 0, kMultiplyRows);
    for (const Isa isa : AllIsas()) {
      if (isa == Isa::kBaseline && AllIsas().size() > 1) continue;
      for (int rows = 1; rows <= kMultiplyRows; ++rows) {
        const int first = kMultiplyRows - rows;
        const std::vector<float> dst = test.Multiply(isa, first, rows);
        ASSERT_TRUE(std::equal(dst.begin(), dst.end(),
                               all.begin() + ptrdiff_t{first} * test.n))
            << TypeName(dtype) << " with " << IsaName(isa) << ", " << rows
            << " rows";
      }
    }
  }
}

// f16 that are subnormal, and negative scales as files may have them.
TEST(GroupKernelTest, ReadsEveryFiniteF16) {
  Case test(ComputeType::kInt4, 1, 64, /*exact=*/true);
  for (uint32_t bits = 0; bits < 0x10000; bits += 64) {
    if (!IsFiniteHalf(static_cast<uint16_t>(bits))) continue;
    for (int c = 0; c < 64; ++c) {
      const uint16_t half = static_cast<uint16_t>(bits + c);
      std::memcpy(&test.packed[2 * c], &half, sizeof(half));
      std::memcpy(&test.packed[WeightGroup<4>::kMins + 2 * c], &half,
                  sizeof(half));
      std::memset(&test.packed[WeightGroup<4>::kCodes], 0,
                  4 * WeightGroup<4>::kPart);
    }
    for (const Isa isa : AllIsas()) {
      const std::vector<float> dst = test.Multiply(isa, 0, 1);
      for (int c = 0; c < 64; ++c) {
        ASSERT_EQ(dst[c], HalfToFloat(static_cast<uint16_t>(bits + c)) *
                              test.src[0].scale * test.src[0].sum)
            << IsaName(isa) << " " << bits + c;
      }
    }
  }
}

}  // namespace
}  // namespace attend
