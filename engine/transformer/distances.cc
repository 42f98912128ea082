#include "engine/transformer/distances.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "engine/layers/distance_rows.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/exec/primitives.h"
#include "engine/tensor/matrix.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/load.h"

namespace attend {

absl::StatusOr<Distances> Distances::Load(Compute& compute, Weights& weights,
                                          const std::string& name, int hidden,
                                          const StackSpec& stack, bool paired) {
  const DistanceSpec& spec = *stack.distances;
  const std::string slot = absl::StrCat(name, ".distances");
  const int count = 2 * spec.side;
  ASSIGN_OR_RETURN(Buffer<float> vectors, weights.Read(slot, {count, hidden}));
  // Loads leave the team to steps.
  Compute& alone = compute.alone();
  if (spec.norm) {
    ASSIGN_OR_RETURN(const Norm norm,
                     LoadNorm(weights, slot + ".norm", hidden, *spec.norm));
    const Matrix all(vectors.data(), count, hidden);
    norm.Run(alone, all, all, {});
  }
  const DistanceRows rows = {.side = spec.side,
                             .max_distance = spec.max_distance};
  return Distances(alone, spec, hidden, paired, std::move(vectors),
                   rows.Table(stack.embedding.max_positions));
}

absl::StatusOr<std::unique_ptr<const DistanceTables>> Distances::Of(
    Weights& weights, const std::string& layer,
    const AttentionSpec& attention) {
  const int width = attention.heads * attention.head_dim;
  Buffer<float> keys;
  Buffer<float> queries;
  const auto matrix = [&](const Buffer<float>& rows) {
    return rows.size() == 0 ? std::nullopt
                            : std::make_optional(ConstMatrix(
                                  rows.data(), 2 * spec_->side, width));
  };
  if (spec_->keys) {
    ASSIGN_OR_RETURN(keys, Map(weights, layer + ".self.distance_k", width));
  }
  if (spec_->queries) {
    ASSIGN_OR_RETURN(queries, Map(weights, layer + ".self.distance_q", width));
  }
  return std::make_unique<const DistanceTables>(
      DistanceTables::Shape{.heads = attention.heads,
                            .head_dim = attention.head_dim,
                            .paired = paired_},
      rows_, matrix(keys), matrix(queries));
}

absl::StatusOr<Buffer<float>> Distances::Map(Weights& weights,
                                             const std::string& slot,
                                             int width) {
  const int count = 2 * spec_->side;
  Primitives primitives(*compute_);
  ASSIGN_OR_RETURN(const Linear linear,
                   LoadLinear(primitives, weights, {slot}, hidden_, {width},
                              {.dtype = ComputeType::kF32, .max_rows = count}));
  ExecContext context(*compute_, primitives);
  Buffer<float> mapped(static_cast<size_t>(count) * width);
  RETURN_IF_ERROR(linear.Run(context,
                             OperandOf({vectors_.data(), count, hidden_}),
                             {mapped.data(), count, width}));
  return mapped;
}

}  // namespace attend
