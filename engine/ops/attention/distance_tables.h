#ifndef ATTEND_ENGINE_OPS_ATTENTION_DISTANCE_TABLES_H_
#define ATTEND_ENGINE_OPS_ATTENTION_DISTANCE_TABLES_H_

#include <cstddef>
#include <optional>

#include "absl/types/span.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Owns the matrices of DistanceProducts for one layer. Const after
// construction.
class DistanceTables {
 public:
  struct Shape {
    int heads = 0;
    int head_dim = 0;     // even if paired
    bool paired = false;  // for keys in pairs of bf16 (KvLayout::together)
  };
  // The vectors of all heads, [vectors, heads * head_dim]; nullopt: no such
  // product. `rows`: the vector of each distance in [-max, max], where rows has
  // 2 * max + 1 elements. Nothing is needed after the call.
  DistanceTables(const Shape& shape, absl::Span<const int> rows,
                 const std::optional<ConstMatrix>& keys,
                 const std::optional<ConstMatrix>& queries);

  // Points into the tables.
  DistanceProducts products() const;

 private:
  Buffer<std::byte> Pack(const Shape& shape, absl::Span<const int> rows,
                         const std::optional<ConstMatrix>& vectors) const;

  DistanceProducts products_;  // without the pointers
  Buffer<std::byte> keys_;
  Buffer<std::byte> queries_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_ATTENTION_DISTANCE_TABLES_H_
