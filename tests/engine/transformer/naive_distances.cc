// Adds the products with distances to scores in the naive transformer.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/engine/transformer/naive_transformer.h"

namespace attend {

double NaiveTransformer::BiasOf(const std::string& slot,
                                const RelativeBiasSpec& spec, int heads,
                                bool bidirectional, int head,
                                int distance) const {
  int buckets = spec.buckets;
  int bucket = 0;
  int far = -distance;  // of a key before the query
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) bucket = buckets;
    far = std::abs(distance);
  }
  far = std::max(far, 0);
  const int exact = buckets / 2;
  if (far >= exact) {
    const double wide =
        std::log(static_cast<double>(far) / exact) /
        std::log(static_cast<double>(spec.max_distance) / exact);
    far = std::min(exact + static_cast<int>(wide * (buckets - exact) + 1e-9),
                   buckets - 1);
  }
  return weights_.at(slot).values[(bucket + far) * heads + head];
}

NaiveTransformer::Products NaiveTransformer::DistanceProducts(
    const std::string& layer, const StackSpec& stack,
    const AttentionSpec& spec) const {
  if (!stack.distances) return nullptr;
  const DistanceSpec& distances = *stack.distances;
  const auto& table = weights_.at("encoder.distances").values;
  Rows vectors(2 * distances.side);
  for (int i = 0; i < 2 * distances.side; ++i) {
    const auto row = table.begin() + i * spec_.hidden;
    vectors[i].assign(row, row + spec_.hidden);
  }
  if (distances.norm) {
    vectors = Norm("encoder.distances.norm", *distances.norm, vectors);
  }
  Rows keys(distances.keys ? Linear(layer + ".self.distance_k", vectors)
                           : Rows());
  Rows queries(distances.queries ? Linear(layer + ".self.distance_q", vectors)
                                 : Rows());
  return
      [=, &distances](int head, int distance, const std::vector<double>& query,
                      const std::vector<double>& key) {
        double far = std::abs(distance);
        const int exact = distances.side / 2;
        if (distances.max_distance > 0 && far > exact) {
          const double wide = std::log(far / exact) /
                              std::log((distances.max_distance - 1.0) / exact);
          far = std::ceil(wide * (exact - 1) - 1e-9) + exact;
        }
        const double row =
            distance > 0 ? distances.side - far : distances.side + far;
        const int at =
            static_cast<int>(std::clamp(row, 0.0, 2.0 * distances.side - 1));
        const int q0 = head * spec.head_dim;
        const int k0 = head / (spec.heads / spec.kv_heads) * spec.head_dim;
        double sum = 0;
        for (int d = 0; d < spec.head_dim; ++d) {
          if (distances.keys) sum += query[q0 + d] * keys[at][q0 + d];
          if (distances.queries) sum += key[k0 + d] * queries[at][q0 + d];
        }
        return sum;
      };
}

}  // namespace attend
