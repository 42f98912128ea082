#ifndef ATTEND_ENGINE_LAYERS_ROTARY_H_
#define ATTEND_ENGINE_LAYERS_ROTARY_H_

#include "absl/types/span.h"
#include "engine/compute/compute.h"
#include "engine/layers/rotary_spec.h"
#include "engine/ops/attention/rotate.h"
#include "engine/tensor/buffer.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Where rows are in their sequences.
struct RowPlaces {
  absl::Span<const int> positions;  // [rows]
  // See RotarySpec::LengthOf(); [rows], or empty where nothing is by length.
  absl::Span<const int> lengths = {};
};

// The angles of rotary positions (Su et al. 2021, section 3.2.2), rounded to
// floats, as where checkpoints were trained. Const after construction.
class Rotary {
 public:
  // Positions are [0, max_positions). Takes spec.dims() floats a position, and
  // where long_frequencies take over those up to the original length besides.
  Rotary(const RotarySpec& spec, int max_positions);

  // Turns the first `heads` heads of each row.
  void Run(Compute& compute, const RowPlaces& places, int heads, int head_dim,
           Matrix rows) const;

  // Of a row. The table has them, but for rows of sequences that are longer
  // than it knows them for: their angles are made in the scratch.
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
  // Position p of sequences of original_positions or less, and of all where
  // nothing is by length; behind them, where a token keeps the frequencies that
  // it came with, of sequences of p + 1.
  Table table_;
  Table long_table_;  // with long_frequencies, else empty
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_ROTARY_H_
