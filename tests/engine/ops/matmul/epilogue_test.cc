#include "engine/ops/matmul/epilogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/ops/matmul/epilogue_kernel.h"
#include "tests/engine/ops/test_isa.h"

namespace attend {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double Naive(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kReluSquared:
      return x > 0 ? x * x : 0;
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
  }
  return 0;
}

std::vector<float> Random(int n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.5f, 2.0f);
  std::vector<float> values(n);
  for (float& v : values) v = normal(generator);
  return values;
}

class EpilogueTest : public testing::TestWithParam<Isa> {
 protected:
  std::vector<float> Activate(const std::vector<float>& src,
                              Activation activation) const {
    std::vector<float> dst(src.size());
    kernels_.apply({.src = src.data(),
                    .dst = dst.data(),
                    .columns = static_cast<int>(src.size())},
                   activation);
    return dst;
  }

  // In place, against the definition in doubles.
  void ExpectNormalized(const std::vector<float>& src,
                        const NormWeights& norm) const {
    const int n = static_cast<int>(src.size());
    double mean = 0;
    if (!norm.rms) {
      for (float x : src) mean += x / static_cast<double>(n);
    }
    double variance = 0;
    for (float x : src) variance += (x - mean) * (x - mean) / n;
    std::vector<float> dst = src;
    kernels_.normalize(dst.data(), norm, 1, n, dst.data());
    for (int i = 0; i < n; ++i) {
      const double x = (src[i] - mean) / std::sqrt(variance + norm.epsilon);
      const double beta = norm.beta == nullptr ? 0 : norm.beta[i];
      EXPECT_NEAR(dst[i], x * norm.gamma[i] + beta,
                  2e-6 * (1 + std::abs(x * norm.gamma[i]) + std::abs(beta)))
          << "n " << n;
    }
  }

  const EpilogueKernels& kernels_ = EpilogueKernelsFor(GetParam());
};

TEST_P(EpilogueTest, ActivationsKeepTheirDocumentedError) {
  std::vector<float> src;
  for (float x = -100; x <= 100; x += 0.00613f) src.push_back(x);
  const std::vector<float> silu = Activate(src, Activation::kSilu);
  const std::vector<float> gelu = Activate(src, Activation::kGelu);
  const std::vector<float> gelu_tanh = Activate(src, Activation::kGeluTanh);
  const std::vector<float> relu = Activate(src, Activation::kRelu);
  const std::vector<float> squared = Activate(src, Activation::kReluSquared);
  for (size_t i = 0; i < src.size(); ++i) {
    const double x = src[i];
    const double expected = Naive(Activation::kSilu, x);
    // Below -88 e^-x is bounded: 1e-36 stands for less.
    EXPECT_NEAR(silu[i], expected, 1e-6 * std::abs(expected) + 1e-36) << x;
    EXPECT_NEAR(gelu[i], Naive(Activation::kGelu, x), 3e-7 * std::abs(x)) << x;
    EXPECT_NEAR(gelu_tanh[i], Naive(Activation::kGeluTanh, x),
                3e-7 * std::abs(x))
        << x;
    EXPECT_EQ(relu[i], Naive(Activation::kRelu, x)) << x;
    EXPECT_FLOAT_EQ(squared[i], Naive(Activation::kReluSquared, x)) << x;
  }
}

TEST_P(EpilogueTest, TanhKeepsItsDocumentedErrorNearZeroToo) {
  std::vector<float> src = {0.0f, 1e-30f, -1e-30f, 1e-6f, 0.625f, -0.625f};
  for (float x = -10; x <= 10; x += 0.000613f) src.push_back(x);
  const std::vector<float> tanh = Activate(src, Activation::kTanh);
  for (size_t i = 0; i < src.size(); ++i) {
    const double expected = std::tanh(static_cast<double>(src[i]));
    EXPECT_NEAR(tanh[i], expected, 3e-7 * std::abs(expected)) << src[i];
  }
}

TEST_P(EpilogueTest, ActivationsOfTheExtremes) {
  const std::vector<float> src = {kInf, -kInf, kNan, 0.0f, 3e38f, -3e38f};
  EXPECT_THAT(Activate(src, Activation::kRelu),
              testing::Pointwise(testing::NanSensitiveFloatEq(),
                                 {kInf, 0.0f, kNan, 0.0f, 3e38f, 0.0f}));
  EXPECT_THAT(Activate(src, Activation::kReluSquared),
              testing::Pointwise(testing::NanSensitiveFloatEq(),
                                 {kInf, 0.0f, kNan, 0.0f, kInf, 0.0f}));
  const std::vector<float> gelu = Activate(src, Activation::kGelu);
  EXPECT_THAT(gelu, testing::Pointwise(testing::NanSensitiveFloatEq(),
                                       {kInf, 0.0f, kNan, 0.0f, 3e38f, 0.0f}));
  EXPECT_THAT(Activate(src, Activation::kTanh),
              testing::Pointwise(testing::NanSensitiveFloatEq(),
                                 {1.0f, -1.0f, kNan, 0.0f, 1.0f, -1.0f}));
  EXPECT_THAT(Activate(src, Activation::kGeluTanh),
              testing::Pointwise(testing::NanSensitiveFloatNear(1e-36f),
                                 {kInf, 0.0f, kNan, 0.0f, 3e38f, 0.0f}));
  const std::vector<float> silu = Activate(src, Activation::kSilu);
  EXPECT_EQ(silu[0], kInf);
  EXPECT_TRUE(std::isnan(silu[2]));
  EXPECT_EQ(silu[3], 0);
  EXPECT_EQ(silu[4], 3e38f);
}

TEST_P(EpilogueTest, BiasActivationAndResidualInThisOrder) {
  for (int n : {1, 3, 15, 16, 17, 33, 100}) {
    const std::vector<float> src = Random(n, 1);
    const std::vector<float> bias = Random(n, 2);
    const std::vector<float> residual = Random(n, 3);
    for (bool with_bias : {false, true}) {
      for (bool with_residual : {false, true}) {
        // One value more: a guard.
        std::vector<float> dst(n + 1, 7.0f);
        kernels_.apply({.src = src.data(),
                        .bias = with_bias ? bias.data() : nullptr,
                        .residual = with_residual ? residual.data() : nullptr,
                        .dst = dst.data(),
                        .columns = n},
                       Activation::kSilu);
        for (int i = 0; i < n; ++i) {
          const double x = src[i] + (with_bias ? bias[i] : 0.0);
          const double expected =
              Naive(Activation::kSilu, x) + (with_residual ? residual[i] : 0.0);
          EXPECT_NEAR(dst[i], expected, 3e-6 * (1 + std::abs(x)));
        }
        EXPECT_EQ(dst[n], 7.0f);
      }
    }
  }
}

TEST_P(EpilogueTest, BitsDoNotDependOnTheCut) {
  const int n = 211;  // more than are activated at once
  const std::vector<float> src = Random(n, 4);
  for (Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kReluSquared,
        Activation::kGelu, Activation::kGeluTanh, Activation::kSilu,
        Activation::kTanh}) {
    const std::vector<float> whole = Activate(src, activation);
    for (int cut : {1, 16, 64, 130}) {
      std::vector<float> pasted(n);
      kernels_.apply({.src = src.data(), .dst = pasted.data(), .columns = cut},
                     activation);
      kernels_.apply({.src = src.data() + cut,
                      .dst = pasted.data() + cut,
                      .columns = n - cut},
                     activation);
      EXPECT_EQ(std::memcmp(pasted.data(), whole.data(), n * sizeof(float)), 0);
    }
  }
}

TEST_P(EpilogueTest, DestinationMayBeSourceOrResidual) {
  const int n = 37;
  const std::vector<float> src = Random(n, 5);
  const std::vector<float> residual = Random(n, 6);
  std::vector<float> apart(n);
  ResultTile tile = {.src = src.data(),
                     .residual = residual.data(),
                     .dst = apart.data(),
                     .columns = n};
  kernels_.apply(tile, Activation::kGelu);
  std::vector<float> in_place = residual;
  tile.residual = tile.dst = in_place.data();
  kernels_.apply(tile, Activation::kGelu);
  EXPECT_EQ(in_place, apart);
  in_place = src;
  tile = {.src = in_place.data(),
          .residual = residual.data(),
          .dst = in_place.data(),
          .columns = n};
  kernels_.apply(tile, Activation::kGelu);
  EXPECT_EQ(in_place, apart);
}

TEST_P(EpilogueTest, LayerNormEqualsItsDefinition) {
  for (int n : {1, 2, 15, 16, 31, 256, 515}) {
    const std::vector<float> src = Random(n, 7);
    const std::vector<float> gamma = Random(n, 8);
    const std::vector<float> beta = Random(n, 9);
    ExpectNormalized(src, {gamma.data(), beta.data(), 1e-5f});
    ExpectNormalized(src, {gamma.data(), nullptr, 1e-5f});
  }
}

TEST_P(EpilogueTest, RmsNormEqualsItsDefinition) {
  for (int n : {1, 2, 15, 16, 31, 256, 515}) {
    const std::vector<float> src = Random(n, 7);
    const std::vector<float> gamma = Random(n, 8);
    const std::vector<float> beta = Random(n, 9);
    ExpectNormalized(src, {gamma.data(), nullptr, 1e-6f, true});
    ExpectNormalized(src, {gamma.data(), beta.data(), 1e-3f, true});
  }
}

TEST_P(EpilogueTest, LayerNormOfAlmostConstantRows) {
  const int n = 64;
  std::vector<float> src(n, 1000.0f);
  src[3] = 1000.5f;
  const std::vector<float> one(n, 1.0f);
  const std::vector<float> zero(n, 0.0f);
  std::vector<float> dst(n);
  kernels_.normalize(src.data(), {one.data(), zero.data(), 1e-5f}, 1, n,
                     dst.data());
  // Mean 1000 + 1/128, variance 1/256 - 1/128^2.
  const double deviation = std::sqrt(1.0 / 256 - 1.0 / 16384 + 1e-5);
  EXPECT_NEAR(dst[3], (0.5 - 1.0 / 128) / deviation, 1e-3);
}

TEST_P(EpilogueTest, NormsOfRowsDependNeitherOnOtherRowsNorOnTheTeam) {
  for (const int n : {13, 48, 515}) {
    const std::vector<float> src = Random(7 * n, 10);
    const std::vector<float> gamma = Random(n, 11);
    for (const bool rms : {false, true}) {
      const NormWeights norm = {gamma.data(), gamma.data(), 1e-6f, rms};
      std::vector<float> expected(7 * n);
      for (int r = 0; r < 7; ++r) {
        kernels_.normalize(&src[r * n], norm, 1, n, &expected[r * n]);
      }
      for (int threads : {1, 2, 3}) {
        Compute compute({.threads = threads, .max_isa = GetParam()});
        std::vector<float> dst(7 * n);
        Normalize(compute, {src.data(), 7, n}, norm, {dst.data(), 7, n});
        EXPECT_EQ(dst, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, EpilogueTest, testing::ValuesIn(AllIsas()),
                         [](const auto& test) {
                           return std::string(IsaName(test.param));
                         });

}  // namespace
}  // namespace attend
