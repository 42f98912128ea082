#include "engine/layers/rotary_spec.h"

#include <cmath>

#include "engine/tensor/check.h"

namespace attend {

std::vector<float> RotaryFrequencies(float theta, int dims) {
  std::vector<float> frequencies(dims / 2);
  FillRotaryFrequencies(theta, absl::MakeSpan(frequencies));
  return frequencies;
}

void FillRotaryFrequencies(float theta, absl::Span<float> frequencies) {
  const float dims = static_cast<float>(2 * frequencies.size());
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / dims;
    const float power = static_cast<float>(
        std::pow(static_cast<double>(theta), static_cast<double>(exponent)));
    frequencies[i] = 1.0f / power;
  }
}

float RotarySpec::StretchedTheta(int length) const {
  ATTEND_CHECK(length >= original_positions && dims() > 2);
  const float stretch = factor * static_cast<float>(length) /
                            static_cast<float>(original_positions) -
                        static_cast<float>(factor - 1.0);
  const double exponent = static_cast<float>(dims() / (dims() - 2.0));
  return theta *
         static_cast<float>(std::pow(static_cast<double>(stretch), exponent));
}

}  // namespace attend
