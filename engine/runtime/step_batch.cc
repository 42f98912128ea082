#include "engine/runtime/step_batch.h"

namespace attend {

StepBatch::StepBatch(int max_rows) {
  ids_.reserve(max_rows);
  positions_.reserve(max_rows);
  lengths_.reserve(max_rows);
  writes_.reserve(max_rows);
  self_.reserve(max_rows);
  cross_.reserve(max_rows);
  weighed_.reserve(max_rows);
}

void StepBatch::Clear() {
  ids_.clear();
  positions_.clear();
  lengths_.clear();
  writes_.clear();
  self_.clear();
  cross_.clear();
  weighed_.clear();
}

void StepBatch::AddTokens(absl::Span<const int> tokens, int first_token,
                          absl::Span<std::byte* const> blocks) {
  const int first_row = rows();
  const int count = static_cast<int>(tokens.size());
  for (int i = 0; i < count; ++i) {
    ids_.push_back(tokens[i]);
    positions_.push_back(first_token + i);
  }
  writes_.push_back({.first_row = first_row,
                     .rows = count,
                     .blocks = blocks,
                     .first_token = first_token});
  self_.push_back({.first_row = first_row,
                   .rows = count,
                   .blocks = blocks,
                   .keys = first_token + 1,
                   .causal = true,
                   .position = first_token,
                   .key_positions = {}});
}

void StepBatch::AddCross(int first_row, absl::Span<std::byte* const> blocks,
                         int keys) {
  cross_.push_back({.first_row = first_row,
                    .rows = rows() - first_row,
                    .blocks = blocks,
                    .keys = keys,
                    .causal = false,
                    .position = 0,
                    .key_positions = {}});
}

void StepBatch::AddWeighed(int row, absl::Span<std::byte* const> blocks,
                           int keys, float* weights) {
  weighed_.push_back(
      {.row = row, .blocks = blocks, .keys = keys, .weights = weights});
}

DecodeRows StepBatch::View(const KvLayout& layout) const {
  return {.kv_layout = &layout,
          .ids = ids_,
          .positions = positions_,
          .lengths = lengths_,
          .writes = writes_,
          .self_pieces = self_,
          .cross_pieces = cross_,
          .weighed = weighed_};
}

}  // namespace attend
