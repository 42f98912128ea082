#ifndef ATTEND_ENGINE_LAYERS_ROTARY_H_
#define ATTEND_ENGINE_LAYERS_ROTARY_H_

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/layers/rotary_spec.h"
#include "engine/ops/attention/rotate.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// The places of rows in their sequences.
struct RowPlaces {
  absl::Span<const int> positions;  // [rows]
  // See RotarySpec::LengthOf(); [rows], or empty unless by_length().
  absl::Span<const int> lengths = {};
};

// Rotates queries and keys by angles of their positions (Su et al. 2021,
// section 3.2.2). Angles are rounded to floats as in training. Const after
// construction.
class Rotary {
 public:
  // Positions are [0, max_positions). The tables have spec.dims() floats a
  // position; with long_frequencies the positions below original_positions are
  // in two tables.
  Rotary(const RotarySpec& spec, int max_positions);

  // Rotates the first `heads` heads of each row.
  void Run(Compute& compute, const RowPlaces& places, int heads, int head_dim,
           Matrix rows) const;

  // The angles of a row whose LengthOf() is `length`: from a table, or computed
  // in `scratch` if no table has angles of that length.
  RowAngles Of(int position, int length, RotaryScratch& scratch) const;

 private:
  struct Table {
    Buffer<float> cos;  // [positions, dims / 2]
    Buffer<float> sin;  // likewise
  };
  Table NewTable(int positions) const;
  void FillRow(Table& table, int position,
               absl::Span<const float> frequencies) const;
  RowAngles Row(const Table& table, int position) const;
  RowAngles Make(int position, int length, RotaryScratch& scratch) const;

  const RotarySpec spec_;
  const int max_positions_;
  // Row p is position p with spec_.frequencies. With RotarySpec::theta, rows
  // from original_positions on have the frequencies of length p + 1.
  Table table_;
  Table long_table_;  // position p with long_frequencies; else empty
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_ROTARY_H_
