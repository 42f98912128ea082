#include "engine/ops/matmul/int8_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/buffer.h"
#include "tests/engine/ops/matmul/guarded_multiply.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr int kGroup = Int8Group::kNumbers;

// A product by random codes. Exact: with scales of which f32 has all products
// and sums exactly. What lies beyond k and n is not 0.
struct Case {
  Case(int numbers, int columns, bool exact)
      : k(numbers),
        n(columns),
        groups(GroupsOf(ComputeType::kInt8, k)),
        src(kMultiplyRows * Int8Row::BytesOf(k)),
        weights(size_t(n) * k),
        packed((n + kBlockColumns - 1) / kBlockColumns *
                   PackedBlockBytes(ComputeType::kInt8, k),
               '\x55') {
    std::mt19937 generator(k * n);
    const auto draw = [&](int least, int most) {
      return std::uniform_int_distribution(least, most)(generator);
    };
    const auto scale = [&] {
      return exact ? std::ldexp(1.0f, draw(-1, 1))
                   : static_cast<float>(draw(1, 99)) / 64;
    };
    for (int r = 0; r < kMultiplyRows; ++r) {
      for (int g = 0; g < groups; ++g) {
        const float own = scale();
        int sum = 0;
        for (int i = 0; i < std::min(kGroup, k - g * kGroup); ++i) {
          const int code = draw(-127, 127);
          Codes(r, g)[i] = static_cast<int8_t>(code);
          sum += code;
        }
        Group(r, g) = Int8Group(own, sum);
      }
    }
    for (int c = 0; c < n; ++c) {
      char* group = packed.data() +
                    c / kBlockColumns * PackedBlockBytes(ComputeType::kInt8, k);
      for (int begin = 0; begin < k; begin += kGroup) {
        const int count = std::min(kGroup, k - begin);
        const float own = scale();
        const int zero = draw(0, 255);
        SetScale(group, c % kBlockColumns, own);
        group[128 + c % kBlockColumns] = static_cast<char>(zero);
        for (int i = 0; i < count; ++i) {
          const int code = draw(0, 255);
          weights[size_t(c) * k + begin + i] =
              own * static_cast<float>(code - zero);
          // As number_group.h describes the codes.
          group[192 + i / 4 * 256 + c % kBlockColumns * 4 + i % 4] =
              static_cast<char>(code);
        }
        group += 192 + (count + 63) / 64 * 64 * kBlockColumns;
      }
    }
  }

  void* Row(int r) { return src.data() + r * Int8Row::BytesOf(k); }
  const void* Row(int r) const { return const_cast<Case*>(this)->Row(r); }
  int8_t* Codes(int r, int g) { return Int8Row::CodesOf(Row(r), g); }
  Int8Group& Group(int r, int g) { return Int8Row::GroupsOf(Row(r), k)[g]; }

  static void SetScale(char* group, int column, float scale) {
    const auto upper =
        static_cast<uint16_t>(std::bit_cast<uint32_t>(scale) >> 16);
    std::memcpy(group + 2 * column, &upper, sizeof(upper));
  }

  // Rows [first, first + rows) of the product.
  std::vector<float> Multiply(Isa isa, int first, int rows) const {
    return GuardedMultiply(Int8KernelFor(isa), {.src = Row(first),
                                                .weights = packed.data(),
                                                .rows = rows,
                                                .units = (k + 3) / 4,
                                                .n = n});
  }

  double Expected(int r, int c) const {
    double sum = 0;
    for (int i = 0; i < k; ++i) {
      sum += double{Int8Row::GroupsOf(Row(r), k)[i / kGroup].scale} *
             Int8Row::CodesOf(Row(r), 0)[i] * weights[size_t(c) * k + i];
    }
    return sum;
  }

  int k, n, groups;
  Buffer<char> src;            // [kMultiplyRows, k], an Operand
  std::vector<float> weights;  // [n, k]
  std::vector<char> packed;
};

std::vector<Isa> Isas() {
  std::vector<Isa> isas;
  for (const Isa isa : AllIsas()) {
    if (Int8KernelFor(isa) != nullptr) isas.push_back(isa);
  }
  return isas;
}

TEST(Int8KernelTest, EqualsTheDefinition) {
  // A part of a unit, of a step and of a group; several groups; odd columns,
  // whole blocks.
  for (const auto& [k, n] : {std::pair(1, 1),
                             {30, 70},
                             {64, 64},
                             {130, 129},
                             {200, 9},
                             {512, 64},
                             {576, 128},
                             {1030, 70},
                             {2048, 65}}) {
    const Case test(k, n, /*exact=*/true);
    for (const Isa isa : Isas()) {
      for (const int rows : {1, 2, 3, 7, 13, 16, 24, 40, 63, 64}) {
        const std::vector<float> dst = test.Multiply(isa, 0, rows);
        for (const int r : {0, rows / 2, rows - 1}) {
          for (int c = 0; c < n; ++c) {
            ASSERT_EQ(dst[size_t(r) * n + c], test.Expected(r, c))
                << IsaName(isa) << ", k = " << k << ", row " << r << " of "
                << rows << ", column " << c << " of " << n;
          }
        }
      }
    }
  }
}

TEST(Int8KernelTest, ARowHasTheSameBitsInAnyCompanyAndForAnyInstructions) {
  if (Isas().empty()) GTEST_SKIP() << "no int8 on this machine";
  const Case test(1000, 150, /*exact=*/false);
  const std::vector<float> all = test.Multiply(Isas().back(), 0, kMultiplyRows);
  for (const Isa isa : Isas()) {
    for (int rows = 1; rows <= kMultiplyRows; ++rows) {
      const int first = kMultiplyRows - rows;
      const std::vector<float> dst = test.Multiply(isa, first, rows);
      ASSERT_TRUE(std::equal(dst.begin(), dst.end(),
                             all.begin() + ptrdiff_t{first} * test.n))
          << IsaName(isa) << ", " << rows << " rows";
    }
  }
}

TEST(Int8KernelTest, TheLargestCodesDoNotSaturate) {
  for (const int sign : {1, -1}) {
    for (const int zero : {0, 255}) {
      Case test(kGroup, 64, /*exact=*/true);
      for (int r = 0; r < kMultiplyRows; ++r) {
        test.Group(r, 0) = Int8Group(1, sign * 127 * kGroup);
        std::fill_n(test.Codes(r, 0), kGroup, sign * 127);
      }
      const int code = 255 - zero;
      std::fill(test.packed.begin(), test.packed.end(), code);
      std::fill_n(test.packed.begin() + 128, 64, zero);
      for (int c = 0; c < 64; ++c) test.SetScale(test.packed.data(), c, 1);
      for (const Isa isa : Isas()) {
        for (const float product : test.Multiply(isa, 0, 3)) {
          ASSERT_EQ(product, sign * 127 * (code - zero) * kGroup)
              << IsaName(isa) << ", zero " << zero;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attend
