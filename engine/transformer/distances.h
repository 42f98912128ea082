#ifndef ATTEND_ENGINE_TRANSFORMER_DISTANCES_H_
#define ATTEND_ENGINE_TRANSFORMER_DISTANCES_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/compute.h"
#include "engine/ops/attention/distance_tables.h"
#include "engine/tensor/buffer.h"
#include "engine/transformer/spec.h"

namespace attend {

// Makes the tables of DistanceSpec from the slots of a checkpoint. The maps are
// computed once, in f32, while the model loads. For loading only.
class Distances {
 public:
  // Slots "<stack>.distances" and "<stack>.distances.norm". `stack` has
  // distances, and must outlive this object. `paired`: see DistanceTables.
  static absl::StatusOr<Distances> Load(Compute& compute, Weights& weights,
                                        const std::string& name, int hidden,
                                        const StackSpec& stack, bool paired);

  // Slots "<layer>.self.distance_k" and "<layer>.self.distance_q".
  absl::StatusOr<std::unique_ptr<const DistanceTables>> Of(
      Weights& weights, const std::string& layer,
      const AttentionSpec& attention);

 private:
  Distances(Compute& compute, const DistanceSpec& spec, int hidden, bool paired,
            Buffer<float> vectors, std::vector<int> rows)
      : compute_(&compute),
        spec_(&spec),
        hidden_(hidden),
        paired_(paired),
        vectors_(std::move(vectors)),
        rows_(std::move(rows)) {}

  // The vectors mapped by a slot, [2 * side, width].
  absl::StatusOr<Buffer<float>> Map(Weights& weights, const std::string& slot,
                                    int width);

  Compute* compute_;
  const DistanceSpec* spec_;
  int hidden_;
  bool paired_;
  Buffer<float> vectors_;  // [2 * side, hidden]
  std::vector<int> rows_;  // by distance
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_DISTANCES_H_
