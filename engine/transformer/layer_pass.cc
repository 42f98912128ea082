#include "engine/transformer/layer_pass.h"

#include <optional>
#include <variant>

#include "engine/compute/op_timer.h"
#include "engine/ops/matmul/epilogue.h"
#include "engine/ops/matmul/operand.h"
#include "engine/tensor/status_macros.h"

namespace attend {

// With NormPlace::kPost the operand of x must be there whenever a branch
// begins: the norm at the end of each branch writes it.
void LayerPass::MakeOperandOfX() const {
  if (layer_.norm_place == NormPlace::kPre) return;
  MakeOperand(context_.compute(), activations_.x(rows_.x),
              activations_.x_operand(rows_));
}

Operand LayerPass::SourceOf(const BranchNorms& norms) const {
  const Operand x = activations_.x_operand(rows_);
  if (layer_.norm_place == NormPlace::kPost) return x;
  if (!norms.norm) {
    MakeOperand(context_.compute(), activations_.x(rows_.x), x);
    return x;
  }
  const Operand normed = activations_.normed_operand(rows_.room);
  norms.norm->Run(context_.compute(), activations_.x(rows_.x),
                  activations_.normed(rows_.room), normed);
  return normed;
}

template <typename F>
absl::Status LayerPass::AddBranch(const BranchNorms& norms, F f) const {
  const Matrix x = activations_.x(rows_.x);
  if (norms.of_branch) {
    // `normed` holds the source of f too: f writes only after it has read all.
    const Matrix added = activations_.normed(rows_.room);
    const NormWeights norm = norms.of_branch->weights();
    RETURN_IF_ERROR(f(added, Epilogue{.norm = &norm}));
    AddToX(added);
    return absl::OkStatus();
  }
  if (norms.of_sum) return AddNormedSum(norms, f);
  if (layer_.norm_place == NormPlace::kPre) {
    return f(x, Epilogue{.residual = x.data});
  }
  const NormWeights norm = norms.norm->weights();
  return f(x, Epilogue{.residual = x.data,
                       .norm = &norm,
                       .operand = activations_.x_operand(rows_)});
}

template <typename F>
absl::Status LayerPass::AddNormedSum(const BranchNorms& norms, F f) const {
  const Matrix x = activations_.x(rows_.x);
  const Matrix sum = activations_.normed(rows_.room);
  const NormWeights of_sum = norms.of_sum->weights();
  RETURN_IF_ERROR(f(sum, Epilogue{.residual = x.data, .norm = &of_sum}));
  AddToX(sum);
  norms.norm->Run(context_.compute(), x, x, activations_.x_operand(rows_));
  return absl::OkStatus();
}

void LayerPass::AddToX(Matrix added) const {
  const Matrix x = activations_.x(rows_.x);
  context_.team().Run([&](int member) {
    const Range mine = Share(x.rows, member, context_.team().size());
    for (int r = mine.begin; r < mine.end; ++r) {
      float* const to = x.row(r);
      const float* const from = added.row(r);
      for (int i = 0; i < x.cols; ++i) to[i] += from[i];
    }
  });
}

absl::Status LayerPass::Project(const RowPlaces& places,
                                absl::Span<const KvWrite> writes) const {
  const OpTimer timer({.name = "keys_values"});
  return layer_.self_attention.Project(context_, SourceOf(layer_.self_norms),
                                       places, qkv(), place_, writes, adapted_);
}

Matrix LayerPass::qkv() const {
  return activations_.projected(rows_.room, layer_.self_attention.qkv_width());
}

absl::Status LayerPass::Attend(Matrix query, const Pieces& pieces) const {
  // Queries, keys and values are made: attention does not read x any more.
  if (layer_.parallel) RETURN_IF_ERROR(AddFeedForward());
  RETURN_IF_ERROR(AddSelfAttention(query, pieces.self));
  if (layer_.cross) RETURN_IF_ERROR(AddCrossAttention(pieces));
  return layer_.parallel ? absl::OkStatus() : AddFeedForward();
}

absl::Status LayerPass::AddSelfAttention(
    Matrix query, absl::Span<const AttentionPiece> pieces) const {
  const OpTimer timer({.name = "self_attention"});
  const SelfAttention& attention = layer_.self_attention;
  return AddBranch(
      layer_.self_norms, [&](Matrix dst, const Epilogue& epilogue) {
        return attention.Attend(context_, query.data, query.cols, place_,
                                pieces, AttendedOf(attention.shape()), dst,
                                epilogue, adapted_);
      });
}

absl::Status LayerPass::AddCrossAttention(const Pieces& pieces) const {
  const OpTimer timer({.name = "cross_attention"});
  const CrossAttention& attention = layer_.cross->attention;
  const Operand src = SourceOf(layer_.cross->norms);
  const Matrix query =
      activations_.projected(rows_.room, attention.shape().query_width());
  return AddBranch(
      layer_.cross->norms, [&](Matrix dst, const Epilogue& epilogue) {
        RETURN_IF_ERROR(attention.Attend(context_, src, place_, pieces.cross,
                                         query, AttendedOf(attention.shape()),
                                         dst, epilogue));
        attention.Weigh(context_.compute(), place_, query, pieces.weighed);
        return absl::OkStatus();
      });
}

absl::Status LayerPass::AddFeedForward() const {
  const OpTimer timer({.name = "feed_forward"});
  if (const auto* experts =
          std::get_if<MixtureOfExperts>(&layer_.feed_forward)) {
    return AddExperts(*experts);
  }
  const FeedForward& feed_forward = std::get<FeedForward>(layer_.feed_forward);
  const Operand src = SourceOf(layer_.feed_forward_norms);
  const int width = feed_forward.width();
  return AddBranch(layer_.feed_forward_norms, [&](Matrix dst,
                                                  const Epilogue& epilogue) {
    return feed_forward.Run(
        context_, src, activations_.inner_product(rows_.room, width),
        activations_.inner_operand(rows_.room, width), dst, epilogue, adapted_);
  });
}

absl::Status LayerPass::AddExperts(const MixtureOfExperts& experts) const {
  const BranchNorms& norms = layer_.feed_forward_norms;
  const Operand src = SourceOf(norms);
  const bool normed = layer_.norm_place == NormPlace::kPre && norms.norm;
  const Matrix rows =
      normed ? activations_.normed(rows_.room) : activations_.x(rows_.x);
  ExpertRoom room =
      activations_.experts(rows_.room, experts, context_.first_member());
  return AddBranch(norms, [&](Matrix dst, const Epilogue& epilogue) {
    return experts.Run(context_, rows, src, room, dst, epilogue);
  });
}

}  // namespace attend
