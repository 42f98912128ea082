#ifndef ATTEND_ENGINE_RUNTIME_STEP_BATCH_H_
#define ATTEND_ENGINE_RUNTIME_STEP_BATCH_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/attention_weights.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/transformer/transformer.h"

namespace attend {

// The decoder rows of a step. They are ragged: the rows of one hypothesis stand
// after those of another. The batch says where each row writes its keys and
// values, and which keys it sees. Room is reserved at construction. Clear()
// begins the next step.
class StepBatch {
 public:
  explicit StepBatch(int max_rows);

  void Clear();
  // The number of rows so far, which is the index of the next row.
  int rows() const { return static_cast<int>(ids_.size()); }

  // Adds a row a token. The tokens of the hypothesis from number `first_token`
  // on are `tokens`; its keys and values are in `blocks`. Each row writes there
  // and sees all tokens up to its own.
  void AddTokens(absl::Span<const int> tokens, int first_token,
                 absl::Span<std::byte* const> blocks);
  // For models with StackSpec::RotaryByLength(): the length of the first row
  // that has no length yet. Every row needs one. See RotarySpec::LengthOf().
  void AddLength(int length) { lengths_.push_back(length); }
  // Lets all rows from `first_row` on see the `keys` keys of a source too. The
  // rows are one AttentionPiece, so that the keys are read once.
  void AddCross(int first_row, absl::Span<std::byte* const> blocks, int keys);

  // Asks for the weights with which row `row` attends to the `keys` keys of its
  // source: they are written to `weights`.
  void AddWeighed(int row, absl::Span<std::byte* const> blocks, int keys,
                  float* weights);
  // The number of a row's token in its hypothesis.
  int token(int row) const { return positions_[row]; }

  // The argument of Transformer::Decode(); valid until the batch changes.
  // `layout` is that of all blocks.
  DecodeRows View(const KvLayout& layout) const;

 private:
  std::vector<int> ids_;        // [rows]
  std::vector<int> positions_;  // [rows]
  std::vector<int> lengths_;    // [rows] or []
  std::vector<KvWrite> writes_;
  std::vector<AttentionPiece> self_;
  std::vector<AttentionPiece> cross_;
  std::vector<WeighedRow> weighed_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_STEP_BATCH_H_
