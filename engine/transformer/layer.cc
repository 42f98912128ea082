#include "engine/transformer/layer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Several linear maps of one input as one: their outputs side by side.
absl::StatusOr<Linear> LoadLinear(Compute& compute, Weights& weights,
                                  const std::vector<std::string>& slots, int in,
                                  const std::vector<int>& out, DType dtype,
                                  int max_rows) {
  int total = 0;
  for (int n : out) total += n;
  Buffer<float> matrix(static_cast<size_t>(total) * in);
  Buffer<float> bias(total);
  size_t row = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    ASSIGN_OR_RETURN(
        const Buffer<float> part,
        weights.Read(absl::StrCat(slots[i], ".weight"), {out[i], in}));
    ASSIGN_OR_RETURN(const Buffer<float> part_bias,
                     weights.Read(absl::StrCat(slots[i], ".bias"), {out[i]}));
    std::copy_n(part.data(), part.size(), matrix.data() + row * in);
    std::copy_n(part_bias.data(), part_bias.size(), bias.data() + row);
    row += out[i];
  }
  return Linear::Create(compute, dtype, {matrix.data(), total, in},
                        std::move(bias), max_rows);
}

HeadShape ShapeOf(const AttentionSpec& spec) {
  return {.heads = spec.heads,
          .kv_heads = spec.kv_heads,
          .head_dim = spec.head_dim,
          .scale = spec.scale};
}

}  // namespace

absl::StatusOr<Norm> LoadNorm(Weights& weights, const std::string& slot,
                              int hidden, const NormSpec& spec) {
  ASSIGN_OR_RETURN(Buffer<float> gamma,
                   weights.Read(absl::StrCat(slot, ".weight"), {hidden}));
  ASSIGN_OR_RETURN(Buffer<float> beta,
                   weights.Read(absl::StrCat(slot, ".bias"), {hidden}));
  return Norm(std::move(gamma), std::move(beta), spec.epsilon);
}

absl::StatusOr<Layer> LoadLayer(Compute& compute, Weights& weights,
                                const std::string& prefix, int hidden,
                                const LayerSpec& spec, DType dtype,
                                int max_rows) {
  const auto linear = [&](const std::vector<const char*>& names, int in,
                          const std::vector<int>& out) {
    std::vector<std::string> slots;
    for (const char* name : names) {
      slots.push_back(absl::StrCat(prefix, ".", name));
    }
    return LoadLinear(compute, weights, slots, in, out, dtype, max_rows);
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
  ASSIGN_OR_RETURN(Norm self_norm, norm("self"));

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
  ASSIGN_OR_RETURN(Linear in, linear({"ffn.in"}, hidden, {width}));
  ASSIGN_OR_RETURN(Linear out, linear({"ffn.out"}, width, {hidden}));
  ASSIGN_OR_RETURN(Norm feed_forward_norm, norm("ffn"));
  return Layer{.norm_place = spec.norm_place,
               .self_attention =
                   SelfAttention(self, std::move(qkv), std::move(self_out)),
               .self_norm = std::move(self_norm),
               .cross = std::move(cross),
               .feed_forward = FeedForward(std::move(in), std::move(out),
                                           spec.feed_forward.activation),
               .feed_forward_norm = std::move(feed_forward_norm)};
}

Branch::Branch(Compute& compute, NormPlace place, const Norm& norm,
               Activations& activations, Range rows)
    : place_(place),
      norm_(norm.weights()),
      x_(activations.x(rows)),
      src_(place == NormPlace::kPre ? activations.normed_operand(rows)
                                    : activations.x_operand(rows)) {
  if (place == NormPlace::kPre) {
    norm.Run(compute, x_, activations.normed(rows), src_);
  }
}

Epilogue Branch::epilogue() const {
  if (place_ == NormPlace::kPre) return {.residual = x_.data};
  return {.residual = x_.data, .norm = &norm_, .operand = src_};
}

}  // namespace attend
