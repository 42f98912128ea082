#include "engine/transformer/encode_share.h"

#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "engine/transformer/shares.h"

namespace attend {
namespace {

// How much longer than the average the longest share may be, as a fraction. Up
// to here the other members wait less than they would at a meeting after each
// operation.
constexpr double kUneven = 0.2;

// How many rows of work a piece is.
int RowsOf(const EncodePiece& piece) {
  return std::min(piece.rows, piece.state->rows());
}

}  // namespace

bool SplitIntoShares(absl::Span<EncodePiece> pieces, int shares) {
  int total = 0;
  for (const EncodePiece& piece : pieces) total += RowsOf(piece);
  if (shares == 1 || total < kRowsWorthAShare * shares) return false;
  // Longest first, each to the share that has least.
  std::sort(pieces.begin(), pieces.end(),
            [](const EncodePiece& a, const EncodePiece& b) {
              return RowsOf(a) > RowsOf(b);
            });
  absl::InlinedVector<int, 64> rows(shares);
  for (EncodePiece& piece : pieces) {
    const auto least = std::min_element(rows.begin(), rows.end());
    piece.share = static_cast<int>(least - rows.begin());
    *least += RowsOf(piece);
  }
  const int longest = *std::max_element(rows.begin(), rows.end());
  if (longest * shares > (1 + kUneven) * total) return false;
  std::sort(pieces.begin(), pieces.end(),
            [](const EncodePiece& a, const EncodePiece& b) {
              return a.share < b.share;
            });
  return true;
}

absl::Span<EncodePiece> PiecesOf(absl::Span<EncodePiece> pieces, int share) {
  const auto first = std::find_if(
      pieces.begin(), pieces.end(),
      [&](const EncodePiece& piece) { return piece.share == share; });
  const auto end = std::find_if(
      first, pieces.end(),
      [&](const EncodePiece& piece) { return piece.share != share; });
  return pieces.subspan(first - pieces.begin(), end - first);
}

EncodeShare::EncodeShare(ExecContext& context, Activations& activations,
                         absl::Span<EncodePiece> pieces, Range room)
    : context_(context),
      activations_(activations),
      pieces_(pieces),
      room_(room) {
  int total = 0;
  whole_ = true;
  for (const EncodePiece& piece : pieces) {
    const EncodeState& state = *piece.state;
    whole_ &= state.stage() == 0 && state.row() == 0;
    whole_ &= piece.rows >= state.rows();
    total += state.rows();
  }
  whole_ &= total <= room.end - room.begin;
}

bool EncodeShare::TakeRows(int stage, int64_t cost) {
  rows_ = {room_.begin, room_.begin};
  for (EncodePiece& piece : pieces_) {
    const EncodeState& state = *piece.state;
    piece.stage_rows = 0;
    if (state.stage() != stage) continue;
    piece.stage_rows = static_cast<int>(
        std::min<int64_t>({state.rows() - state.row(), piece.budget / cost,
                           room_.end - rows_.end}));
    piece.budget -= piece.stage_rows * cost;
    rows_.end += piece.stage_rows;
  }
  return rows_.end > rows_.begin;
}

void EncodeShare::Advance() {
  for (const EncodePiece& piece : pieces_) {
    if (piece.stage_rows > 0) piece.state->Advance(piece.stage_rows);
  }
}

void EncodeShare::ForEachRow(
    absl::FunctionRef<void(const EncodeState&, int source_row, int i)> visit) {
  const int members = context_.team().size();
  context_.team().Run([&](int member) {
    const Range mine = Share(rows_.end - rows_.begin, member, members);
    int first = 0;  // the first row of the piece
    for (const EncodePiece& piece : pieces_) {
      const int end = std::min(mine.end, first + piece.stage_rows);
      for (int i = std::max(mine.begin, first); i < end; ++i) {
        visit(*piece.state, piece.state->row() + i - first, i);
      }
      first += piece.stage_rows;
    }
  });
}

void EncodeShare::LoadHidden() {
  const Matrix x = activations_.x(rows_);
  ForEachRow([&](const EncodeState& state, int source_row, int i) {
    std::copy_n(state.hidden(source_row, x.cols), x.cols, x.row(i));
  });
}

void EncodeShare::StoreHidden() {
  const Matrix x = activations_.x(rows_);
  ForEachRow([&](const EncodeState& state, int source_row, int i) {
    std::copy_n(x.row(i), x.cols, state.hidden(source_row, x.cols));
  });
}

absl::Span<const int> EncodeShare::Positions() {
  std::vector<int>& positions =
      activations_.lists(context_.first_member()).positions;
  positions.clear();
  for (const EncodePiece& piece : pieces_) {
    const EncodeState& state = *piece.state;
    const auto rows =
        state.tokens().positions.subspan(state.row(), piece.stage_rows);
    positions.insert(positions.end(), rows.begin(), rows.end());
  }
  return positions;
}

AdaptedRows EncodeShare::Adapted() {
  std::vector<int>& adapters =
      activations_.lists(context_.first_member()).adapters;
  adapters.clear();
  bool any = false;
  for (const EncodePiece& piece : pieces_) {
    any |= piece.stage_rows > 0 && piece.state->tokens().adapter >= 0;
  }
  if (!any) return {};
  for (const EncodePiece& piece : pieces_) {
    adapters.insert(adapters.end(), piece.stage_rows,
                    piece.state->tokens().adapter);
  }
  return {.choices = adapters, .products = activations_.adapted(rows_)};
}

absl::Span<const float> EncodeShare::Scales(int dropped_id) {
  if (dropped_id < 0) return {};
  std::vector<float>& scales =
      activations_.lists(context_.first_member()).scales;
  scales.clear();
  for (const EncodePiece& piece : pieces_) {
    if (piece.stage_rows == 0) continue;
    const EncodeState& state = *piece.state;
    const auto& ids = state.tokens().ids;
    const float dropped =
        static_cast<float>(std::count(ids.begin(), ids.end(), dropped_id));
    const float share = dropped / static_cast<float>(state.keys());
    scales.insert(scales.end(), piece.stage_rows, 1 / (1 - share));
  }
  return scales;
}

absl::Span<const KvWrite> EncodeShare::EncoderWrites() { return Writes(false); }
absl::Span<const KvWrite> EncodeShare::CrossWrites() { return Writes(true); }

absl::Span<const KvWrite> EncodeShare::Writes(bool for_decoder) {
  std::vector<KvWrite>& writes =
      activations_.lists(context_.first_member()).writes;
  writes.clear();
  int first = 0;
  for (const EncodePiece& piece : pieces_) {
    if (piece.stage_rows == 0) continue;
    const absl::Span<std::byte* const> blocks =
        for_decoder ? piece.cross_blocks : piece.state->kv();
    if (!blocks.empty()) {
      writes.push_back({.first_row = first,
                        .rows = piece.stage_rows,
                        .blocks = blocks,
                        .first_token = piece.state->row()});
    }
    first += piece.stage_rows;
  }
  return writes;
}

absl::Span<const AttentionPiece> EncodeShare::AllKeys() {
  std::vector<AttentionPiece>& keys =
      activations_.lists(context_.first_member()).pieces;
  keys.clear();
  int first = 0;
  for (const EncodePiece& piece : pieces_) {
    if (piece.stage_rows == 0) continue;
    keys.push_back({.first_row = first,
                    .rows = piece.stage_rows,
                    .blocks = piece.state->kv(),
                    .keys = piece.state->keys(),
                    .causal = false,
                    .position = piece.state->row(),
                    .key_positions = piece.state->key_positions()});
    first += piece.stage_rows;
  }
  return keys;
}

}  // namespace attend
