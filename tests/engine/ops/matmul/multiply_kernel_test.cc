#include "engine/ops/matmul/multiply_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <random>
#include <vector>

#include "tests/engine/ops/matmul/guarded_multiply.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr ComputeType kTypes[] = {ComputeType::kF32, ComputeType::kBf16};
// Which numbers and where they lie is the same for every set of instructions.
constexpr Isa kIsas[] = {Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAvx512Bf16,
                         Isa::kAmx};

int NumbersOfUnit(ComputeType dtype) { return kUnitBytes / BytesOf(dtype); }

// Writes a number as the dtype has it: the upper bytes of the float.
void Write(ComputeType dtype, float number, std::vector<char>& dst,
           size_t index) {
  std::memcpy(dst.data() + index * BytesOf(dtype),
              reinterpret_cast<const char*>(&number) + 4 - BytesOf(dtype),
              BytesOf(dtype));
}

// A product, by numbers of which all types have the products and sums exactly
// or, for comparisons of bits, by any that bf16 has. What lies beyond k and n
// is not 0.
struct Case {
  Case(ComputeType type, int units, int columns, bool exact)
      : dtype(type),
        k(units * NumbersOfUnit(type)),
        n(columns),
        padded_units((units + 3) / 16 * 16 + 16),
        blocks((n + kBlockColumns - 1) / kBlockColumns),
        src(size_t{kMultiplyRows} * k),
        weights(size_t(n) * k),
        src_bytes(src.size() * BytesOf(type)),
        packed(size_t(blocks) * padded_units * kBlockColumns * kUnitBytes,
               '\x55') {
    std::mt19937 generator(units * columns);
    const auto draw = [&](int most) {
      const float x = static_cast<float>(
          std::uniform_int_distribution(-most, most)(generator));
      return exact ? x : x / 96.0f;
    };
    for (size_t i = 0; i < src.size(); ++i) {
      Write(dtype, src[i] = Kept(draw(127)), src_bytes, i);
    }
    for (int c = 0; c < n; ++c) {
      for (int i = 0; i < k; ++i) {
        const float x = weights[size_t(c) * k + i] = Kept(draw(127));
        Write(dtype, x, packed, PlaceOf(c, i));
      }
    }
  }

  // bf16 cuts numbers off, which is a rounding too.
  float Kept(float x) const {
    if (dtype != ComputeType::kBf16) return x;
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    bits &= 0xffff0000u;
    std::memcpy(&x, &bits, sizeof(bits));
    return x;
  }
  size_t PlaceOf(int c, int i) const {
    const int numbers = NumbersOfUnit(dtype);
    const size_t unit =
        size_t(c / kBlockColumns * padded_units + i / numbers) * kBlockColumns +
        c % kBlockColumns;
    return unit * numbers + i % numbers;
  }

  // Rows [first, first + rows) of the product, as the kernel writes them.
  std::vector<float> Multiply(Isa isa, int first, int rows) const {
    return GuardedMultiply(
        MultiplyKernelFor(dtype, k, isa),
        {.src = src_bytes.data() + size_t(first) * k * BytesOf(dtype),
         .weights = packed.data(),
         .rows = rows,
         .units = k / NumbersOfUnit(dtype),
         .padded_units = padded_units,
         .n = n});
  }

  double Expected(int r, int c) const {
    double sum = 0;
    for (int i = 0; i < k; ++i) {
      sum += double{src[size_t(r) * k + i]} * weights[size_t(c) * k + i];
    }
    return sum;
  }

  ComputeType dtype;
  int k, n, padded_units, blocks;
  std::vector<float> src, weights;  // [kMultiplyRows, k], [n, k]
  std::vector<char> src_bytes, packed;
};

struct Kind {
  ComputeType dtype;
  Isa isa;
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << TypeName(kind.dtype) << " with " << IsaName(kind.isa);
}

// The kernels that this machine can run.
std::vector<Kind> AllKinds() {
  std::vector<Kind> kinds;
  for (const ComputeType dtype : kTypes) {
    for (const Isa isa : kIsas) {
      if (isa <= DetectIsa() && MultiplyKernelFor(dtype, 4, isa) != nullptr) {
        kinds.push_back({dtype, isa});
      }
    }
  }
  return kinds;
}

TEST(MultiplyKernelTest, EqualsTheDefinition) {
  for (const auto& [dtype, isa] : AllKinds()) {
    // A part of a step, several steps, several sums; odd columns, whole blocks.
    for (const auto& [units, n] : {std::pair(1, 1),
                                   {30, 70},
                                   {64, 64},
                                   {150, 129},
                                   {600, 128},
                                   {1100, 9}}) {
      const Case test(dtype, units, n, /*exact=*/true);
      for (const int rows : {1, 2, 3, 7, 13, 16, 24, 40, 63, 64}) {
        const std::vector<float> dst = test.Multiply(isa, 0, rows);
        for (const int r : {0, rows / 2, rows - 1}) {
          for (int c = 0; c < n; ++c) {
            ASSERT_EQ(dst[r * n + c], test.Expected(r, c))
                << Kind{dtype, isa} << " " << units << " units, row " << r
                << " of " << rows << ", column " << c << " of " << n;
          }
        }
      }
    }
  }
}

TEST(MultiplyKernelTest, ARowHasTheSameBitsAloneAndInCompany) {
  for (const auto& [dtype, isa] : AllKinds()) {
    const Case test(dtype, 600, 150, /*exact=*/false);
    const std::vector<float> all = test.Multiply(isa, 0, kMultiplyRows);
    for (int rows = 1; rows < kMultiplyRows; ++rows) {
      const int first = kMultiplyRows - rows;
      const std::vector<float> dst = test.Multiply(isa, first, rows);
      ASSERT_TRUE(
          std::equal(dst.begin(), dst.end(), all.begin() + first * test.n))
          << Kind{dtype, isa} << ", " << rows << " rows";
    }
  }
}

TEST(MultiplyKernelTest, IsThereWhereTheInstructionsAre) {
  const auto has = [](ComputeType dtype, int k) {
    std::vector<Isa> isas;
    for (const Isa isa : {Isa::kBaseline, Isa::kAvx2, Isa::kAvx512,
                          Isa::kAvx512Vnni, Isa::kAvx512Bf16, Isa::kAmx}) {
      if (MultiplyKernelFor(dtype, k, isa) != nullptr) isas.push_back(isa);
    }
    return isas;
  };
  using Isas = std::vector<Isa>;
  EXPECT_EQ(has(ComputeType::kF32, 7),
            (Isas{Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAvx512Bf16,
                  Isa::kAmx}));
  EXPECT_EQ(has(ComputeType::kBf16, 6), (Isas{Isa::kAvx512Bf16, Isa::kAmx}));
  EXPECT_EQ(has(ComputeType::kInt8, 7),
            (Isas{Isa::kAvx512Vnni, Isa::kAvx512Bf16, Isa::kAmx}));
  // A row that ends inside a unit.
  EXPECT_EQ(has(ComputeType::kBf16, 7), Isas{});
}

}  // namespace
}  // namespace attend
