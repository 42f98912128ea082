#include "engine/transformer/layer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/load.h"

namespace attend {
namespace {

HeadShape ShapeOf(const AttentionSpec& spec) {
  return {.heads = spec.heads,
          .kv_heads = spec.kv_heads,
          .head_dim = spec.head_dim,
          .scale = spec.scale,
          .softcap = spec.softcap};
}

}  // namespace

absl::StatusOr<Layer> LoadLayer(Compute& compute, Weights& weights,
                                const std::string& prefix, int hidden,
                                const LayerSpec& spec,
                                const PositionRules& rules,
                                Precision precision) {
  const auto linear = [&](const std::vector<const char*>& names, int in,
                          const std::vector<int>& out) {
    std::vector<std::string> slots;
    for (const char* name : names) {
      slots.push_back(absl::StrCat(prefix, ".", name));
    }
    return LoadLinear(compute, weights, slots, in, out, precision);
  };
  const auto norm = [&](const char* name) {
    return LoadNorm(weights, absl::StrCat(prefix, ".", name, ".norm"), hidden,
                    spec.norm);
  };

  const auto branch_norm =
      [&](const char* name) -> absl::StatusOr<std::optional<Norm>> {
    if (!spec.branch_norm) return std::nullopt;
    return LoadNorm(weights, absl::StrCat(prefix, ".", name, ".branch_norm"),
                    hidden, spec.norm);
  };

  const HeadShape self = ShapeOf(spec.self_attention);
  ASSIGN_OR_RETURN(Linear qkv, linear({"self.q", "self.k", "self.v"}, hidden,
                                      {self.query_width(), self.kv_width(),
                                       self.kv_width()}));
  ASSIGN_OR_RETURN(Linear self_out,
                   linear({"self.out"}, self.query_width(), {hidden}));
  std::optional<Norm> self_norm;
  if (spec.self_norm) {
    ASSIGN_OR_RETURN(self_norm, norm("self"));
  }

  ASSIGN_OR_RETURN(std::optional<Norm> self_branch_norm, branch_norm("self"));
  std::optional<HeadNorms> head_norms;
  if (const auto& head_norm = spec.self_attention.head_norm) {
    ASSIGN_OR_RETURN(Norm query,
                     LoadNorm(weights, absl::StrCat(prefix, ".self.q.norm"),
                              self.head_dim, *head_norm));
    ASSIGN_OR_RETURN(Norm key,
                     LoadNorm(weights, absl::StrCat(prefix, ".self.k.norm"),
                              self.head_dim, *head_norm));
    head_norms.emplace(HeadNorms{std::move(query), std::move(key)});
  }

  std::optional<Layer::Cross> cross;
  if (spec.cross_attention.has_value()) {
    const HeadShape shape = ShapeOf(*spec.cross_attention);
    ASSIGN_OR_RETURN(Linear query,
                     linear({"cross.q"}, hidden, {shape.query_width()}));
    ASSIGN_OR_RETURN(Linear key_value,
                     linear({"cross.k", "cross.v"}, hidden,
                            {shape.kv_width(), shape.kv_width()}));
    ASSIGN_OR_RETURN(Linear out,
                     linear({"cross.out"}, shape.query_width(), {hidden}));
    ASSIGN_OR_RETURN(Norm cross_norm, norm("cross"));
    cross.emplace(
        Layer::Cross{CrossAttention(shape, std::move(query),
                                    std::move(key_value), std::move(out)),
                     std::move(cross_norm)});
  }

  const int width = spec.feed_forward.width;
  // A gate's outputs come before those it gates.
  ASSIGN_OR_RETURN(Linear in,
                   spec.feed_forward.gated
                       ? linear({"ffn.gate", "ffn.in"}, hidden, {width, width})
                       : linear({"ffn.in"}, hidden, {width}));
  ASSIGN_OR_RETURN(Linear out, linear({"ffn.out"}, width, {hidden}));
  ASSIGN_OR_RETURN(Norm feed_forward_norm, norm("ffn"));
  ASSIGN_OR_RETURN(std::optional<Norm> feed_forward_branch_norm,
                   branch_norm("ffn"));
  return Layer{
      .norm_place = spec.norm_place,
      .parallel = spec.parallel,
      .self_attention = SelfAttention(self, rules, std::move(head_norms),
                                      std::move(qkv), std::move(self_out)),
      .self_norm = std::move(self_norm),
      .self_branch_norm = std::move(self_branch_norm),
      .cross = std::move(cross),
      .feed_forward =
          FeedForward(std::move(in), std::move(out),
                      spec.feed_forward.activation, spec.feed_forward.gated),
      .feed_forward_norm = std::move(feed_forward_norm),
      .feed_forward_branch_norm = std::move(feed_forward_branch_norm)};
}

Branch::Branch(Compute& compute, NormPlace place,
               const std::optional<Norm>& norm,
               const std::optional<Norm>& of_branch, Activations& activations,
               Range rows)
    : compute_(compute),
      x_(activations.x(rows)),
      dst_(x_),
      src_(activations.x_operand(rows)) {
  if (of_branch) {
    of_branch_ = of_branch->weights();
    // By the time that f writes, it has read what is there now.
    dst_ = activations.normed(rows);
  }
  if (!norm) return;
  if (place == NormPlace::kPost) {
    after_ = norm->weights();
    return;
  }
  src_ = activations.normed_operand(rows);
  norm->Run(compute, x_, activations.normed(rows), src_);
}

Epilogue Branch::epilogue() const {
  if (of_branch_) return {.norm = &*of_branch_};
  if (!after_) return {.residual = x_.data};
  return {.residual = x_.data, .norm = &*after_, .operand = src_};
}

void Branch::Finish() const {
  if (!of_branch_) return;
  compute_.team().Run([&](int member) {
    const Range mine = Share(x_.rows, member, compute_.team().size());
    for (int r = mine.begin; r < mine.end; ++r) {
      float* const x = x_.row(r);
      const float* const added = dst_.row(r);
      for (int i = 0; i < x_.cols; ++i) x[i] += added[i];
    }
  });
}

}  // namespace attend
