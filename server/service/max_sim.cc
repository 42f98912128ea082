#include "server/service/max_sim.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace attend {
namespace {

// Eight sums, which the compiler keeps in one register.
float Dot(const float* a, const float* b, int width) {
  float sums[8] = {};
  int j = 0;
  for (; j + 8 <= width; j += 8) {
    for (int k = 0; k < 8; ++k) sums[k] += a[j + k] * b[j + k];
  }
  float sum = 0;
  for (; j < width; ++j) sum += a[j] * b[j];
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace

float MaxSim(const ComparedVectors& query, const ComparedVectors& document,
             int width) {
  if (document.rows.empty()) return 0;
  const auto row = [&](const ComparedVectors& vectors, int index) {
    return vectors.values.data() + size_t{1} * index * width;
  };
  float score = 0;
  for (const int q : query.rows) {
    float best = -std::numeric_limits<float>::infinity();
    for (const int d : document.rows) {
      best = std::max(best, Dot(row(query, q), row(document, d), width));
    }
    score += best;
  }
  return score;
}

}  // namespace attend
