#include "engine/layers/multi_head_attention.h"

#include <algorithm>

#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Clamps all numbers to [-most, most]; 0: no clamp. Bound by loads and stores
// of what a matmul has just written.
void Clip(Compute& compute, float most, Matrix x) {
  if (most == 0) return;
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

// Spreads the first `heads` heads of each row if keys are stored in int8.
void SpreadForInt8(Compute& compute, KvPlace place, Matrix rows, int heads) {
  if (place.layout->dtype != KvType::kInt8) return;
  SpreadHeads(compute, {.values = rows.data,
                        .stride = rows.cols,
                        .rows = rows.rows,
                        .heads = heads,
                        .head_dim = place.layout->head_dim});
}

}  // namespace

HeadRows SelfAttention::HeadsOf(Matrix qkv, int heads) const {
  return {.values = qkv.data,
          .stride = qkv.cols,
          .rows = qkv.rows,
          .heads = maps_.joint_norm ? 1 : heads,
          .head_dim = shape_.head_dim * (maps_.joint_norm ? heads : 1)};
}

void SelfAttention::NormalizeQueriesAndKeys(Compute& compute,
                                            Matrix qkv) const {
  if (!maps_.norms) return;
  NormalizeHeads(compute, HeadsOf(qkv, shape_.heads),
                 maps_.norms->query.weights(), maps_.norm_by_head);
  HeadRows keys = HeadsOf(qkv, shape_.kv_heads);
  keys.values += shape_.query_width();
  NormalizeHeads(compute, keys, maps_.norms->key.weights(), maps_.norm_by_head);
}

void SelfAttention::Rotate(Compute& compute, const RowPlaces& places,
                           Matrix qkv) const {
  if (!rotates()) return;
  // Heads of values stand after those of queries and keys.
  const int kinds = maps_.rotates_values ? 2 : 1;
  maps_.rotary->Run(compute, places, shape_.heads + kinds * shape_.kv_heads,
                    shape_.head_dim, qkv);
}

absl::Status SelfAttention::Project(ExecContext& context, const Operand& src,
                                    const RowPlaces& places, Matrix qkv,
                                    KvPlace place,
                                    absl::Span<const KvWrite> writes,
                                    const AdaptedRows& adapted) const {
  RETURN_IF_ERROR(qkv_.Run(context, src, qkv, {}, adapted));
  Compute& compute = context.compute();
  Clip(compute, maps_.clip, qkv);
  if (!maps_.norm_after_rotation) NormalizeQueriesAndKeys(compute, qkv);
  Rotate(compute, places, qkv);
  if (maps_.norm_after_rotation) NormalizeQueriesAndKeys(compute, qkv);
  SpreadForInt8(context.compute(), place, qkv, shape_.heads + shape_.kv_heads);
  const float* key = qkv.data + shape_.query_width();
  WriteKv(context.compute(), {.layout = place.layout,
                              .layer = place.layer,
                              .key = key,
                              .value = key + shape_.kv_width(),
                              .stride = qkv.cols,
                              .first_row = place.first_row,
                              .writes = writes});
  return absl::OkStatus();
}

absl::Status SelfAttention::Attend(ExecContext& context, const float* query,
                                   int stride, KvPlace place,
                                   absl::Span<const AttentionPiece> pieces,
                                   const Attended& attended, Matrix dst,
                                   const Epilogue& epilogue,
                                   const AdaptedRows& adapted) const {
  Attention(context, {.rules = &rules_,
                      .layout = place.layout,
                      .layer = place.layer,
                      .heads = shape_.heads,
                      .query = query,
                      .query_stride = stride,
                      .first_row = place.first_row,
                      .pieces = pieces,
                      .dst = attended.rows});
  MakeOperand(context.compute(), attended.rows, attended.operand);
  return out_.Run(context, attended.operand, dst, epilogue, adapted);
}

absl::Status CrossAttention::StoreKeysAndValues(
    ExecContext& context, const Operand& encoded, Matrix key_value,
    KvPlace place, absl::Span<const KvWrite> writes) const {
  RETURN_IF_ERROR(key_value_.Run(context, encoded, key_value));
  Clip(context.compute(), clip_, key_value);
  SpreadForInt8(context.compute(), place, key_value, shape_.kv_heads);
  WriteKv(context.compute(), {.layout = place.layout,
                              .layer = place.layer,
                              .key = key_value.data,
                              .value = key_value.data + shape_.kv_width(),
                              .stride = key_value.cols,
                              .first_row = place.first_row,
                              .writes = writes});
  return absl::OkStatus();
}

absl::Status CrossAttention::Attend(ExecContext& context, const Operand& src,
                                    KvPlace place,
                                    absl::Span<const AttentionPiece> pieces,
                                    Matrix query, const Attended& attended,
                                    Matrix dst,
                                    const Epilogue& epilogue) const {
  RETURN_IF_ERROR(query_.Run(context, src, query));
  Clip(context.compute(), clip_, query);
  SpreadForInt8(context.compute(), place, query, shape_.heads);
  Attention(context, {.rules = &rules_,
                      .layout = place.layout,
                      .layer = place.layer,
                      .heads = shape_.heads,
                      .query = query.data,
                      .query_stride = query.cols,
                      .first_row = place.first_row,
                      .pieces = pieces,
                      .dst = attended.rows});
  MakeOperand(context.compute(), attended.rows, attended.operand);
  return out_.Run(context, attended.operand, dst, epilogue);
}

void CrossAttention::Weigh(Compute& compute, KvPlace place, Matrix query,
                           absl::Span<const WeighedRow> rows) const {
  AttentionWeights(compute, {.rules = &rules_,
                             .layout = place.layout,
                             .layer = place.layer,
                             .heads = shape_.heads,
                             .query = query.data,
                             .query_stride = query.cols,
                             .first_row = place.first_row,
                             .rows = rows});
}

}  // namespace attend
