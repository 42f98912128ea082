#include "engine/layers/pointwise.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

// log(1 + e^x) without overflow.
float Softplus(float x) {
  return std::max(x, 0.0f) + std::log1p(std::exp(-std::abs(x)));
}

float Apply(Pointwise function, float x) {
  constexpr float kSeluAlpha = 1.6732632423543772848170429916717f;
  constexpr float kSeluScale = 1.0507009873554804934193349852946f;
  constexpr float kLambda = 0.5f;
  constexpr float kRreluSlope = (1.0f / 8 + 1.0f / 3) / 2;
  const auto hard_sigmoid = [](float v) {
    return std::clamp(v / 6 + 0.5f, 0.0f, 1.0f);
  };
  switch (function) {
    case Pointwise::kNone:
      return x;
    case Pointwise::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Pointwise::kLogSigmoid:
      return -Softplus(-x);
    case Pointwise::kRelu6:
      return std::clamp(x, 0.0f, 6.0f);
    case Pointwise::kLeakyRelu:
      return x > 0 ? x : 0.01f * x;
    case Pointwise::kElu:
      return x > 0 ? x : std::expm1(x);
    case Pointwise::kSelu:
      return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x));
    case Pointwise::kHardtanh:
      return std::clamp(x, -1.0f, 1.0f);
    case Pointwise::kHardsigmoid:
      return hard_sigmoid(x);
    case Pointwise::kHardswish:
      return x * hard_sigmoid(x);
    case Pointwise::kHardshrink:
      return std::abs(x) > kLambda ? x : 0.0f;
    case Pointwise::kSoftshrink:
      return x > kLambda ? x - kLambda : x < -kLambda ? x + kLambda : 0.0f;
    case Pointwise::kTanhshrink:
      return x - std::tanh(x);
    case Pointwise::kSoftplus:
      return Softplus(x);
    case Pointwise::kSoftsign:
      return x / (1 + std::abs(x));
    case Pointwise::kMish:
      return x * std::tanh(Softplus(x));
    case Pointwise::kRrelu:
      return x > 0 ? x : kRreluSlope * x;
  }
  return x;
}

}  // namespace

void ApplyPointwise(Pointwise function, absl::Span<float> values) {
  if (function == Pointwise::kNone) return;
  for (float& value : values) value = Apply(function, value);
}

}  // namespace attend
