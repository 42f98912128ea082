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
          .scale = spec.scale};
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
  return Layer{.norm_place = spec.norm_place,
               .self_attention = SelfAttention(self, rules, std::move(qkv),
                                               std::move(self_out)),
               .self_norm = std::move(self_norm),
               .cross = std::move(cross),
               .feed_forward = FeedForward(std::move(in), std::move(out),
                                           spec.feed_forward.activation,
                                           spec.feed_forward.gated),
               .feed_forward_norm = std::move(feed_forward_norm)};
}

Branch::Branch(Compute& compute, NormPlace place,
               const std::optional<Norm>& norm, Activations& activations,
               Range rows)
    : x_(activations.x(rows)), src_(activations.x_operand(rows)) {
  if (!norm) return;
  if (place == NormPlace::kPost) {
    after_ = norm->weights();
    return;
  }
  src_ = activations.normed_operand(rows);
  norm->Run(compute, x_, activations.normed(rows), src_);
}

Epilogue Branch::epilogue() const {
  if (!after_) return {.residual = x_.data};
  return {.residual = x_.data, .norm = &*after_, .operand = src_};
}

}  // namespace attend
