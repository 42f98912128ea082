// The embeddings of an encoder's rows, and of the rows that a convolution
// reads.

#include <algorithm>
#include <cstdlib>

#include "engine/ops/matmul/operand.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/transformer.h"

namespace attend {
namespace {

// The row of the source whose position is `offset` after that of `row`; -1 if
// there is none, or if no row sees its key.
int RowAt(const EncodeState& state, int row, int offset) {
  const auto& positions = state.tokens().positions;
  const int step = offset < 0 ? -1 : 1;
  const int wanted = positions[row] + offset;
  for (int i = 0; i <= std::abs(offset); ++i) {
    const int at = row + i * step;
    if (at < 0 || at >= state.keys()) return -1;
    if (positions[at] == wanted) return at;
  }
  return -1;
}

}  // namespace

absl::Status Transformer::EmbedRows(EncodeShare& share, int offset,
                                    Matrix dst) const {
  Activations& activations = share.activations();
  const Range range = share.rows();
  const int total = range.end - range.begin;
  Activations::Lists& lists = activations.lists(share.context().first_member());
  lists.ids.resize(total);
  lists.positions.resize(total);
  lists.types.resize(total);
  share.ForEachRow([&](const EncodeState& state, int source_row, int i) {
    const EncodeState::Tokens& tokens = state.tokens();
    const int at = offset == 0 ? source_row
                               : std::max(RowAt(state, source_row, offset), 0);
    lists.ids[i] = tokens.ids[at];
    lists.positions[i] = tokens.table_positions.empty()
                             ? tokens.positions[at]
                             : tokens.table_positions[at];
    lists.types[i] = tokens.types.empty() ? 0 : tokens.types[at];
  });
  const int width = encoder_->embedding.width();
  return encoder_->embedding.Run(
      share.context(),
      {.ids = lists.ids,
       .positions = lists.positions,
       .types = lists.types,
       .adapters = share.Adapted().choices,
       .scales = share.Scales(spec_.encoder->embedding.dropped_id)},
      activations.inner(range, width), activations.inner_operand(range, width),
      dst);
}

absl::Status Transformer::Convolve(EncodeShare& share) const {
  Activations& activations = share.activations();
  const Range range = share.rows();
  const Convolution& convolution = *encoder_->convolution;
  const Attended taps = activations.taps(range);
  const Matrix tap = activations.tap(range);  // [rows, hidden]
  for (int i = 0; i < convolution.size; ++i) {
    const int offset = i - convolution.size / 2;
    RETURN_IF_ERROR(EmbedRows(share, offset, tap));
    share.ForEachRow([&](const EncodeState& state, int source_row, int r) {
      float* const to = taps.rows.row(r) + i * tap.cols;
      if (offset != 0 && RowAt(state, source_row, offset) < 0) {
        std::fill_n(to, tap.cols, 0.0f);
      } else {
        std::copy_n(tap.row(r), tap.cols, to);
      }
    });
  }
  MakeOperand(share.context().compute(), taps.rows, taps.operand);
  const Matrix x = activations.x(range);
  const NormWeights norm = convolution.norm.weights();
  return convolution.linear.Run(
      share.context(), taps.operand, x,
      {.activation = convolution.activation,
       .residual = x.data,
       .norm = &norm,
       .operand = activations.x_operand({.x = range, .room = range})});
}

}  // namespace attend
