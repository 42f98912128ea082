#include "engine/layers/multi_head_attention.h"

#include <algorithm>

#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Bound by loads and stores of what a matmul has just written.
void Clip(Compute& compute, float most, Matrix x) {
  compute.team().Run([&](int member) {
    const Range rows = Share(x.rows, member, compute.team().size());
    for (int r = rows.begin; r < rows.end; ++r) {
      float* const row = x.row(r);
      for (int i = 0; i < x.cols; ++i) {
        row[i] = std::clamp(row[i], -most, most);
      }
    }
  });
}

}  // namespace

absl::Status SelfAttention::Project(Compute& compute, const Operand& src,
                                    const RowPlaces& places, Matrix qkv,
                                    KvPlace place,
                                    absl::Span<const KvWrite> writes) const {
  RETURN_IF_ERROR(qkv_.Run(compute, src, qkv));
  if (shape_.clip > 0) Clip(compute, shape_.clip, qkv);
  if (norms_) {
    NormalizeHeadsArgs heads = {.values = qkv.data,
                                .stride = qkv.cols,
                                .rows = qkv.rows,
                                .heads = shape_.heads,
                                .head_dim = shape_.head_dim,
                                .norm = norms_->query.weights()};
    NormalizeHeads(compute, heads);
    heads.values += shape_.query_width();
    heads.heads = shape_.kv_heads;
    heads.norm = norms_->key.weights();
    NormalizeHeads(compute, heads);
  }
  if (rotates()) {
    rules_.rotary->Run(compute, places, shape_.heads + shape_.kv_heads,
                       shape_.head_dim, qkv);
  }
  const float* key = qkv.data + shape_.query_width();
  WriteKv(compute, {.layout = place.layout,
                    .layer = place.layer,
                    .key = key,
                    .value = key + shape_.kv_width(),
                    .stride = qkv.cols,
                    .first_row = place.first_row,
                    .writes = writes});
  return absl::OkStatus();
}

absl::Status SelfAttention::Attend(Compute& compute, const float* query,
                                   int stride, KvPlace place,
                                   absl::Span<const AttentionPiece> pieces,
                                   const Attended& attended, Matrix dst,
                                   const Epilogue& epilogue) const {
  Attention(compute, {.layout = place.layout,
                      .layer = place.layer,
                      .heads = shape_.heads,
                      .scale = shape_.scale,
                      .softcap = shape_.softcap,
                      .bias = rules_.bias == nullptr ? DistanceBias()
                                                     : rules_.bias->bias(),
                      .slopes = rules_.slopes,
                      .window = rules_.window,
                      .query = query,
                      .query_stride = stride,
                      .first_row = place.first_row,
                      .pieces = pieces,
                      .dst = attended.rows});
  MakeOperand(compute, attended.rows, attended.operand);
  return out_.Run(compute, attended.operand, dst, epilogue);
}

absl::Status CrossAttention::Remember(Compute& compute, const Operand& encoded,
                                      Matrix key_value, KvPlace place,
                                      absl::Span<const KvWrite> writes) const {
  RETURN_IF_ERROR(key_value_.Run(compute, encoded, key_value));
  WriteKv(compute, {.layout = place.layout,
                    .layer = place.layer,
                    .key = key_value.data,
                    .value = key_value.data + shape_.kv_width(),
                    .stride = key_value.cols,
                    .first_row = place.first_row,
                    .writes = writes});
  return absl::OkStatus();
}

absl::Status CrossAttention::Attend(Compute& compute, const Operand& src,
                                    KvPlace place,
                                    absl::Span<const AttentionPiece> pieces,
                                    Matrix query, const Attended& attended,
                                    Matrix dst,
                                    const Epilogue& epilogue) const {
  RETURN_IF_ERROR(query_.Run(compute, src, query));
  Attention(compute, {.layout = place.layout,
                      .layer = place.layer,
                      .heads = shape_.heads,
                      .scale = shape_.scale,
                      .query = query.data,
                      .query_stride = query.cols,
                      .first_row = place.first_row,
                      .pieces = pieces,
                      .dst = attended.rows});
  MakeOperand(compute, attended.rows, attended.operand);
  return out_.Run(compute, attended.operand, dst, epilogue);
}

}  // namespace attend
