#include "engine/ops/matmul/group_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "engine/ops/exec/number_group.h"
#include "engine/tensor/half.h"
#include "tests/engine/ops/matmul/guarded_multiply.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

// A product by random groups. Exact: with scales and codes of which f32 has all
// products and sums exactly.
template <int kBits>
struct Case {
  static constexpr ComputeType kType =
      kBits == 4 ? ComputeType::kInt4 : ComputeType::kW8;
  using Group = WeightGroup<kBits>;

  Case(int groups_of_row, int columns, bool exact)
      : groups(groups_of_row),
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
    const int most = kBits == 8 && !exact ? 32767 : 127;
    for (OperandGroup<kBits>& group : src) {
      group.scale = scale();
      for (auto& code : group.codes) {
        code =
            static_cast<typename OperandGroup<kBits>::Code>(draw(-most, most));
        group.sum += code;
      }
    }
    packed.resize((n + kBlockColumns - 1) / kBlockColumns * groups *
                  Group::kBytes);
    for (int c = 0; c < n; ++c) {
      for (int g = 0; g < groups; ++g) {
        char* const group =
            &packed[size_t(c / kBlockColumns * groups + g) * Group::kBytes];
        float* const numbers =
            &weights[(size_t(c) * groups + g) * kGroupNumbers];
        const int column = c % kBlockColumns;
        const float own_scale = scale();
        const float min = kBits == 4 ? static_cast<float>(draw(-9, 9)) : 0;
        WriteHalf(group, column, own_scale);
        if (kBits == 4) WriteHalf(group + Group::kMins, column, min);
        for (int i = 0; i < kGroupNumbers; ++i) {
          const int code = draw(0, (1 << kBits) - 1);
          numbers[i] = own_scale * (kBits == 4 ? code : code - 128) + min;
          WriteCode(group + Group::kCodes, column, i, code);
        }
      }
    }
  }

  // As number_group.h describes the parts.
  static void WriteCode(char* parts, int column, int i, int code) {
    if (kBits == 4) {
      parts[i % 16 / 4 * Group::kPart + 4 * column + i % 4] |= code
                                                               << (i / 16 * 4);
      return;
    }
    const int place = i % 4 == 1 ? 2 : i % 4 == 2 ? 1 : i % 4;
    parts[i / 4 * Group::kPart + 4 * column + place] = static_cast<char>(code);
  }

  static void WriteHalf(char* halfs, int column, float number) {
    const uint16_t half = FloatToHalf(number);
    std::memcpy(halfs + 2 * column, &half, sizeof(half));
  }

  // Rows [first, first + rows) of the product.
  std::vector<float> Multiply(Isa isa, int first, int rows) const {
    return GuardedMultiply(GroupKernelFor(kType, isa),
                           {.src = &src[size_t(first) * groups],
                            .weights = packed.data(),
                            .rows = rows,
                            .units = groups,
                            .n = n});
  }

  double Expected(int r, int c) const {
    double sum = 0;
    for (int i = 0; i < groups * kGroupNumbers; ++i) {
      const OperandGroup<kBits>& x =
          src[size_t(r) * groups + i / kGroupNumbers];
      sum += double{x.scale} * x.codes[i % kGroupNumbers] *
             weights[size_t(c) * groups * kGroupNumbers + i];
    }
    return sum;
  }

  int groups, n;
  std::vector<OperandGroup<kBits>> src;  // [kMultiplyRows, groups]
  std::vector<float> weights;            // [n, groups * kGroupNumbers]
  std::vector<char> packed;
};

template <int kBits>
void ExpectTheDefinition() {
  for (const auto& [groups, n] : {std::pair(1, 1), {3, 70}, {7, 128}}) {
    const Case<kBits> test(groups, n, /*exact=*/true);
    for (const Isa isa : AllIsas()) {
      for (const int rows : {1, 2, 3, 4, 5, 6, 7, 64}) {
        const std::vector<float> dst = test.Multiply(isa, 0, rows);
        for (const int r : {0, rows / 2, rows - 1}) {
          for (int c = 0; c < n; ++c) {
            ASSERT_EQ(dst[size_t(r) * n + c], test.Expected(r, c))
                << kBits << " bits with " << IsaName(isa) << ", " << groups
                << " groups, row " << r << " of " << rows << ", column " << c
                << " of " << n;
          }
        }
      }
    }
  }
}

TEST(GroupKernelTest, EqualsTheDefinition) {
  ExpectTheDefinition<8>();
  ExpectTheDefinition<4>();
}

// Those with AVX2, too, of which CPUs of all kinds have the same results.
template <int kBits>
void ExpectTheSameBits() {
  const Case<kBits> test(9, 150, /*exact=*/false);
  const std::vector<float> all =
      test.Multiply(AllIsas().back(), 0, kMultiplyRows);
  for (const Isa isa : AllIsas()) {
    if (isa == Isa::kBaseline && AllIsas().size() > 1) continue;
    for (int rows = 1; rows <= kMultiplyRows; ++rows) {
      const int first = kMultiplyRows - rows;
      const std::vector<float> dst = test.Multiply(isa, first, rows);
      ASSERT_TRUE(std::equal(dst.begin(), dst.end(),
                             all.begin() + ptrdiff_t{first} * test.n))
          << kBits << " bits with " << IsaName(isa) << ", " << rows << " rows";
    }
  }
}

TEST(GroupKernelTest, ARowHasTheSameBitsInAnyCompanyAndForAnyInstructions) {
  ExpectTheSameBits<8>();
  ExpectTheSameBits<4>();
}

// The sums of a group fit int32, whatever the codes: beside 128 times their sum
// the largest is 255 * 32767 * 32.
TEST(GroupKernelTest, TheLargestCodesDoNotOverflow) {
  for (const int sign : {1, -1}) {
    Case<8> test(1, 64, /*exact=*/true);
    for (OperandGroup<8>& group : test.src) {
      group = {.scale = 1, .sum = sign * 32767 * kGroupNumbers};
      std::fill(std::begin(group.codes), std::end(group.codes), sign * 32767);
    }
    std::fill(test.packed.begin() + WeightGroup<8>::kCodes, test.packed.end(),
              '\xff');
    for (int c = 0; c < 64; ++c) test.WriteHalf(test.packed.data(), c, 1);
    const auto expected =
        static_cast<float>(sign * 32767 * kGroupNumbers * 127);
    for (const Isa isa : AllIsas()) {
      for (const float product : test.Multiply(isa, 0, 1)) {
        ASSERT_EQ(product, expected) << IsaName(isa);
      }
    }
  }
}

// f16 that are subnormal, and negative scales as files may have them.
TEST(GroupKernelTest, ReadsEveryFiniteF16) {
  Case<4> test(1, 64, /*exact=*/true);
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
