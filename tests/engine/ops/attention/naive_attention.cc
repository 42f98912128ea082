#include "tests/engine/ops/attention/naive_attention.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace attend {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The largest of f(row) over rows of `n` numbers.
template <typename F>
double Largest(const std::vector<float>& rows, int n, F f) {
  double largest = 0;
  for (size_t i = 0; i + n <= rows.size(); i += n) {
    largest = std::max(largest, f(&rows[i]));
  }
  return largest;
}

float RoundedToBf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const uint32_t below = bits & 0xffff;
  bits -= below;
  const bool odd = bits & 0x10000;
  if (below > 0x8000 || (below == 0x8000 && odd)) bits += 0x10000;
  std::memcpy(&x, &bits, sizeof(bits));
  return x;
}

void RoundRow(KvType dtype, float* row, int n) {
  float amax = 0;
  for (int d = 0; d < n; ++d) amax = std::max(amax, std::abs(row[d]));
  for (int d = 0; d < n; ++d) {
    if (dtype == KvType::kBf16) row[d] = RoundedToBf16(row[d]);
    if (dtype == KvType::kInt8 && amax > 0) {
      row[d] = std::nearbyint(row[d] * (127 / amax)) * (amax / 127);
    }
  }
}

}  // namespace

std::vector<float> RandomFloats(size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> values(n);
  for (float& x : values) x = normal(random);
  return values;
}

AttentionInputs::AttentionInputs(const AttentionShape& s, int batch,
                                 unsigned seed)
    : shape(s),
      query(RandomFloats(
          static_cast<size_t>(batch) * s.queries * s.heads * s.head_dim, seed)),
      key(RandomFloats(
          static_cast<size_t>(batch) * s.keys * s.kv_heads * s.head_dim,
          seed + 1)),
      value(RandomFloats(
          static_cast<size_t>(batch) * s.keys * s.kv_heads * s.head_dim,
          seed + 2)) {}

AttentionInputs Rounded(const AttentionInputs& in, KvType dtype) {
  AttentionInputs rounded = in;
  const int n = in.shape.head_dim;
  for (size_t i = 0; i < in.key.size(); i += n) {
    RoundRow(dtype, &rounded.key[i], n);
    RoundRow(dtype, &rounded.value[i], n);
  }
  return rounded;
}

double RoundingError(KvType dtype, double amax) {
  switch (dtype) {
    case KvType::kF32:
      return 0;
    case KvType::kBf16:
      return amax * 0x1p-8;
    case KvType::kInt8:
      return amax / 127 / 2;
  }
  return 0;
}

std::vector<double> NaiveAttention(const AttentionInputs& in,
                                   const AttentionMask& mask,
                                   const ScoreBias& bias, double softcap) {
  const AttentionShape& s = in.shape;
  std::vector<double> dst(in.query.size(), 0.0);
  for (int b = 0; b < mask.batch; ++b)
    for (int h = 0; h < s.heads; ++h)
      for (int q = 0; q < s.queries; ++q) {
        const int kv_head = h / (s.heads / s.kv_heads);
        const size_t at =
            (size_t(b) * s.queries + q) * in.query_cols() + h * s.head_dim;
        const auto kv_at = [&](int k) {
          return (size_t(b) * s.keys + k) * in.kv_cols() + kv_head * s.head_dim;
        };
        std::vector<double> weights(s.keys, -kInf);
        double max = -kInf;
        for (int k = 0; k < s.keys; ++k) {
          if (!mask.Visible(b, q, k)) continue;
          double dot = 0;
          for (int d = 0; d < s.head_dim; ++d) {
            dot += double(in.query[at + d]) * in.key[kv_at(k) + d];
          }
          double score = dot * in.scale();
          if (softcap > 0) score = softcap * std::tanh(score / softcap);
          weights[k] = score + (bias ? bias(h, q, k) : 0);
          max = std::max(max, weights[k]);
        }
        if (max == -kInf) continue;
        double sum = 0;
        for (double& w : weights) sum += w = std::exp(w - max);
        for (int k = 0; k < s.keys; ++k)
          for (int d = 0; d < s.head_dim; ++d) {
            dst[at + d] += weights[k] / sum * in.value[kv_at(k) + d];
          }
      }
  return dst;
}

// In f32 each score is off by the rounding of its dot product, which changes
// its weight by that factor, twice (sum); then the rounding of the weighted
// sum; all times the largest value. A narrower key moves each score by at most
// |query|_1 times its error, a narrower value the sum by its own.
double AttentionTolerance(const AttentionInputs& in, KvType dtype) {
  const int n = in.shape.head_dim;
  const double eps = std::numeric_limits<float>::epsilon() / 2;
  const auto norm = [n](const float* row) {
    double sum = 0;
    for (int d = 0; d < n; ++d) sum += double(row[d]) * row[d];
    return std::sqrt(sum);
  };
  const auto sum_of_magnitudes = [n](const float* row) {
    double sum = 0;
    for (int d = 0; d < n; ++d) sum += std::abs(row[d]);
    return sum;
  };
  const auto amax = [n](const float* row) {
    double max = 0;
    for (int d = 0; d < n; ++d) max = std::max(max, double(std::abs(row[d])));
    return max;
  };
  const double score =
      Largest(in.query, n, norm) * Largest(in.key, n, norm) * in.scale();
  const double value = Largest(in.value, n, amax);
  const double moved = Largest(in.query, n, sum_of_magnitudes) * in.scale() *
                       RoundingError(dtype, Largest(in.key, n, amax));
  const double spans = in.shape.keys / 256 + 1;
  return (2 * (n + 4) * score + in.shape.keys + 16 * spans) * eps * value +
         std::expm1(2 * moved) * value + RoundingError(dtype, value);
}

void ExpectNear(const std::vector<float>& got,
                const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance) << "at " << i;
  }
}

}  // namespace attend
