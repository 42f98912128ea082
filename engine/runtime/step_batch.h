#ifndef ATTEND_ENGINE_RUNTIME_STEP_BATCH_H_
#define ATTEND_ENGINE_RUNTIME_STEP_BATCH_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/transformer/transformer.h"

namespace attend {

// The decoder rows of a step, ragged: those of one hypothesis after those of
// another, with where each writes its keys and values and what it attends to.
// Room is reserved at construction; Clear() begins the next step.
class StepBatch {
 public:
  explicit StepBatch(int max_rows);

  void Clear();
  // So far; the next row added has this index.
  int rows() const { return static_cast<int>(ids_.size()); }

  // Rows for `tokens`, which are token number `first_token` of a hypothesis and
  // those after it: each is written to `blocks`, the hypothesis' own, and sees
  // what stands there up to itself.
  void AddTokens(absl::Span<const int> tokens, int first_token,
                 absl::Span<std::byte* const> blocks);
  // The length that the next row without one counts as; of models that rotate
  // by length every row has one. See RotarySpec::LengthOf().
  void AddLength(int length) { lengths_.push_back(length); }
  // The rows from `first_row` on see all `keys` of a source, too. In one list
  // entry for all hypotheses, so that the keys are read once.
  void AddCross(int first_row, absl::Span<std::byte* const> blocks, int keys);

  // What Transformer::Decode() reads; valid until the next change.
  // `layout`: of all blocks.
  DecodeRows View(const KvLayout& layout) const;

 private:
  std::vector<int> ids_;        // [rows]
  std::vector<int> positions_;  // [rows]
  std::vector<int> lengths_;    // [rows] or []
  std::vector<KvWrite> writes_;
  std::vector<AttentionPiece> self_;
  std::vector<AttentionPiece> cross_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_STEP_BATCH_H_
