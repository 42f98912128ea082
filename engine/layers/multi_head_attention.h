#ifndef ATTEND_ENGINE_LAYERS_MULTI_HEAD_ATTENTION_H_
#define ATTEND_ENGINE_LAYERS_MULTI_HEAD_ATTENTION_H_

#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/layers/adapters.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/layers/rotary.h"
#include "engine/ops/attention/attention.h"
#include "engine/ops/attention/attention_rules.h"
#include "engine/ops/attention/attention_weights.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/attention/kv_store.h"
#include "engine/ops/exec/exec_context.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/tensor/matrix.h"

namespace attend {

// Shape of multi-head attention (Vaswani et al. 2017, section 3.2).
struct HeadShape {
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;

  int query_width() const { return heads * head_dim; }
  int kv_width() const { return kv_heads * head_dim; }
};

// Norms of queries and keys, with weights of [head_dim], or of the width of all
// heads (HeadMaps::joint_norm, norm_by_head).
struct HeadNorms {
  Norm query;
  Norm key;
};

// Transforms of queries, keys and values before attention, in this order
// unless norm_after_rotation. At last, queries and keys are spread if keys are
// stored in int8 (KvLayout).
struct HeadMaps {
  // Queries, keys and values are clamped to [-clip, clip]; 0: no clamp.
  float clip = 0;
  std::optional<HeadNorms> norms = std::nullopt;  // of queries and keys
  // The norms are of all heads of a row together, not of each head.
  bool joint_norm = false;
  bool norm_by_head = false;  // the norm of each head has weights of its own
  bool norm_after_rotation = false;
  // Rotates queries and keys; null: no rotation. Must outlive the layer.
  const Rotary* rotary = nullptr;
  bool rotates_values = false;  // with `rotary`: values, too
};

// The place of one layer's keys and values in the blocks.
struct KvPlace {
  const KvLayout* layout = nullptr;
  int layer = 0;
  // The number that pieces and writes give to row 0 of the call's matrices.
  int first_row = 0;
};

// Memory for the heads' outputs, side by side, and for the same as the operand
// of the matmul that follows. Overwritten.
struct Attended {
  Matrix rows;      // [rows, query_width]
  Operand operand;  // of the same shape
};

// Attention over keys and values made from the rows themselves. One fused
// matmul makes queries, keys and values. Const after construction.
class SelfAttention {
 public:
  // `qkv` is hidden -> query_width + 2 * kv_width.
  SelfAttention(HeadShape shape, const AttentionRules& rules, HeadMaps maps,
                Linear qkv, Linear out)
      : shape_(shape),
        rules_(rules),
        maps_(std::move(maps)),
        qkv_(std::move(qkv)),
        out_(std::move(out)) {}

  const HeadShape& shape() const { return shape_; }
  int qkv_width() const { return qkv_.out(); }
  // Whether Project() needs positions.
  bool rotates() const { return maps_.rotary != nullptr; }

  // Computes qkv [rows, qkv_width] of src [rows, hidden], and writes keys and
  // values into blocks. `places` is needed if rotates().
  absl::Status Project(ExecContext& context, const Operand& src,
                       const RowPlaces& places, Matrix qkv, KvPlace place,
                       absl::Span<const KvWrite> writes,
                       const AdaptedRows& adapted = {}) const;

  // Each row of `query` has `stride` floats, of which the first are the query.
  // dst is [rows, hidden].
  absl::Status Attend(ExecContext& context, const float* query, int stride,
                      KvPlace place, absl::Span<const AttentionPiece> pieces,
                      const Attended& attended, Matrix dst,
                      const Epilogue& epilogue,
                      const AdaptedRows& adapted = {}) const;

 private:
  // The first `heads` heads of each row of qkv, as their norms take them.
  HeadRows HeadsOf(Matrix qkv, int heads) const;
  // Normalize and rotate queries and keys, if the layer does.
  void NormalizeQueriesAndKeys(Compute& compute, Matrix qkv) const;
  void Rotate(Compute& compute, const RowPlaces& places, Matrix qkv) const;

  HeadShape shape_;
  AttentionRules rules_;
  HeadMaps maps_;
  Linear qkv_;
  Linear out_;
};

// Attention over keys and values of the encoder's output, which are computed
// once a request. Const after construction.
class CrossAttention {
 public:
  // `key_value` maps hidden -> 2 * kv_width. `clip`: see HeadMaps.
  CrossAttention(HeadShape shape, const AttentionRules& rules, float clip,
                 Linear query, Linear key_value, Linear out)
      : shape_(shape),
        rules_(rules),
        clip_(clip),
        query_(std::move(query)),
        key_value_(std::move(key_value)),
        out_(std::move(out)) {}

  const HeadShape& shape() const { return shape_; }
  int key_value_width() const { return key_value_.out(); }

  // Computes keys and values of rows of the encoder's output and writes them
  // into blocks. `key_value` [rows, key_value_width] is overwritten.
  absl::Status StoreKeysAndValues(ExecContext& context, const Operand& encoded,
                                  Matrix key_value, KvPlace place,
                                  absl::Span<const KvWrite> writes) const;

  // src and dst [rows, hidden]; `query` [rows, query_width] becomes the
  // queries.
  absl::Status Attend(ExecContext& context, const Operand& src, KvPlace place,
                      absl::Span<const AttentionPiece> pieces, Matrix query,
                      const Attended& attended, Matrix dst,
                      const Epilogue& epilogue) const;

  // The weights of rows whose queries Attend() has left in `query`.
  void Weigh(Compute& compute, KvPlace place, Matrix query,
             absl::Span<const WeighedRow> rows) const;

 private:
  HeadShape shape_;
  AttentionRules rules_;
  float clip_;
  Linear query_;
  Linear key_value_;
  Linear out_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_LAYERS_MULTI_HEAD_ATTENTION_H_
