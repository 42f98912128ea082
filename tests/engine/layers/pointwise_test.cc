#include "engine/layers/pointwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace attend {
namespace {

using Function = attend::Pointwise;
using ::testing::FloatNear;

TEST(PointwiseTest, FunctionsAreThoseOfTorch) {
  const std::vector<float> in = {-7,    -3,    -0.5f, -0.25f, 0,
                                 0.25f, 0.75f, 3,     100};
  const struct {
    Function function;
    std::vector<float> out;
  } cases[] = {
      {Function::kNone, in},
      {Function::kSigmoid,
       {0.00091105117f, 0.047425874f, 0.37754068f, 0.4378235f, 0.5f,
        0.56217653f, 0.67917871f, 0.95257413f, 1}},
      {Function::kLogSigmoid,
       {-7.0009112f, -3.0485873f, -0.97407699f, -0.82593942f, -0.69314718f,
        -0.57593942f, -0.38687101f, -0.048587352f, -3.9236357e-44f}},
      {Function::kRelu6, {0, 0, 0, 0, 0, 0.25f, 0.75f, 3, 6}},
      {Function::kLeakyRelu,
       {-0.07f, -0.029999999f, -0.0049999999f, -0.0024999999f, 0, 0.25f, 0.75f,
        3, 100}},
      {Function::kElu,
       {-0.99908811f, -0.95021296f, -0.39346933f, -0.22119921f, 0, 0.25f, 0.75f,
        3, 100}},
      {Function::kSelu,
       {-1.7564961f, -1.6705687f, -0.69175816f, -0.38889018f, 0, 0.26267526f,
        0.78802574f, 3.1521029f, 105.0701f}},
      {Function::kHardtanh, {-1, -1, -0.5f, -0.25f, 0, 0.25f, 0.75f, 1, 1}},
      {Function::kHardsigmoid,
       {0, 0, 0.41666666f, 0.45833334f, 0.5f, 0.54166669f, 0.625f, 1, 1}},
      {Function::kHardswish,
       {-0, -0, -0.20833333f, -0.11458334f, 0, 0.13541667f, 0.46875f, 3, 100}},
      {Function::kHardshrink, {-7, -3, 0, 0, 0, 0, 0.75f, 3, 100}},
      {Function::kSoftshrink, {-6.5f, -2.5f, -0, -0, 0, 0, 0.25f, 2.5f, 99.5f}},
      {Function::kTanhshrink,
       {-6.0000019f, -2.0049453f, -0.037882835f, -0.0050813407f, 0,
        0.0050813407f, 0.11485106f, 2.0049453f, 99}},
      {Function::kSoftplus,
       {0.00091146649f, 0.048587352f, 0.47407699f, 0.57593942f, 0.69314718f,
        0.82593942f, 1.1368711f, 3.0485873f, 100}},
      {Function::kSoftsign,
       {-0.875f, -0.75f, -0.33333334f, -0.2f, 0, 0.2f, 0.42857143f, 0.75f,
        0.99009901f}},
      {Function::kMish,
       {-0.0063802637f, -0.14564747f, -0.22074376f, -0.12992696f, 0, 0.1695724f,
        0.61001837f, 2.9865351f, 100}},
      {Function::kRrelu,
       {-1.6041667f, -0.6875f, -0.11458334f, -0.057291668f, 0, 0.25f, 0.75f, 3,
        100}},
  };
  for (const auto& [function, out] : cases) {
    std::vector<float> values = in;
    ApplyPointwise(function, absl::MakeSpan(values));
    EXPECT_THAT(values, testing::Pointwise(FloatNear(1e-6f), out))
        << static_cast<int>(function);
  }
}

}  // namespace
}  // namespace attend
