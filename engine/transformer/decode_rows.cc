#include "engine/transformer/decode_rows.h"

#include <algorithm>

#include "engine/tensor/check.h"

namespace attend {
namespace {

// What of `item`, an AttentionPiece or a KvWrite, is in `rows`. Returns how
// many of its first rows are not.
template <typename Item>
int Cut(Range rows, Item& item) {
  const int skipped = std::max(rows.begin - item.first_row, 0);
  item.first_row += skipped;
  item.rows = std::min(item.rows - skipped, rows.end - item.first_row);
  return skipped;
}

// Calls take(item) for each item that has rows in `rows`.
template <typename Item, typename Take>
void ForEachIn(Range rows, absl::Span<const Item> items, Take take) {
  auto item = std::partition_point(
      items.begin(), items.end(), [&](const Item& candidate) {
        return candidate.first_row + candidate.rows <= rows.begin;
      });
  for (; item != items.end() && item->first_row < rows.end; ++item) take(*item);
}

}  // namespace

DecodeRows ShareOf(const DecodeRows& rows, int member, int members) {
  const int total = rows.size();
  const auto piece_at = [&](int row) {
    return std::lower_bound(rows.cross_pieces.begin(), rows.cross_pieces.end(),
                            row, [](const AttentionPiece& piece, int wanted) {
                              return piece.first_row < wanted;
                            });
  };
  const Range ideal = Share(total, member, members);
  const auto from = piece_at(ideal.begin);
  const auto to = piece_at(ideal.end);
  const auto row_of = [&](auto piece, int wanted) {
    if (rows.cross_pieces.empty()) return wanted;
    return piece == rows.cross_pieces.end() ? total : piece->first_row;
  };
  const int first = row_of(from, ideal.begin);
  const int count = row_of(to, ideal.end) - first;
  return {.kv_layout = rows.kv_layout,
          .first_row = first,
          .ids = rows.ids.subspan(first, count),
          .positions = rows.positions.subspan(first, count),
          .lengths = rows.lengths.empty() ? rows.lengths
                                          : rows.lengths.subspan(first, count),
          .writes = rows.writes.subspan(first, count),
          .self_pieces = rows.self_pieces.subspan(first, count),
          .cross_pieces = rows.cross_pieces.subspan(
              from - rows.cross_pieces.begin(), to - from)};
}

DecodeRows PartOf(const DecodeRows& rows, Range part,
                  Activations::Lists& lists) {
  const int count = part.end - part.begin;
  if (count == rows.size()) return rows;
  ATTEND_CHECK(rows.cross_pieces.empty());
  const Range range = {rows.first_row + part.begin, rows.first_row + part.end};
  lists.writes.clear();
  ForEachIn(range, rows.writes, [&](KvWrite write) {
    write.first_token += Cut(range, write);
    lists.writes.push_back(write);
  });
  lists.pieces.clear();
  ForEachIn(range, rows.self_pieces, [&](AttentionPiece piece) {
    const int skipped = Cut(range, piece);
    piece.position += skipped;
    if (piece.causal) piece.keys += skipped;
    lists.pieces.push_back(piece);
  });
  return {.kv_layout = rows.kv_layout,
          .first_row = range.begin,
          .ids = rows.ids.subspan(part.begin, count),
          .positions = rows.positions.subspan(part.begin, count),
          .lengths = rows.lengths.empty()
                         ? rows.lengths
                         : rows.lengths.subspan(part.begin, count),
          .writes = lists.writes,
          .self_pieces = lists.pieces,
          .cross_pieces = {}};
}

}  // namespace attend
