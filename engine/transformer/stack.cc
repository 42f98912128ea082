#include "engine/transformer/stack.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

bool SameKv(const AttentionSpec& a, const AttentionSpec& b) {
  return a.kv_heads == b.kv_heads && a.head_dim == b.head_dim;
}

// One pool holds the keys and values of a stack, so its layers must agree.
absl::Status CheckKvShapes(const StackSpec& stack) {
  const AttentionSpec& first = stack.layers.front().self_attention;
  for (const LayerSpec& layer : stack.layers) {
    if (!SameKv(first, layer.self_attention) ||
        (layer.cross_attention && !SameKv(first, *layer.cross_attention))) {
      return absl::InvalidArgumentError(
          "layers of a stack differ in key/value heads or head size, which is "
          "not supported");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Stack> LoadStack(Compute& compute, Weights& weights,
                                const std::string& name, int hidden,
                                const StackSpec& spec, Precision precision) {
  RETURN_IF_ERROR(CheckKvShapes(spec));
  ASSIGN_OR_RETURN(
      Embedding embedding,
      LoadEmbedding(compute, weights, absl::StrCat(name, ".embedding"), hidden,
                    spec.embedding, precision));
  Stack stack{.embedding = std::move(embedding),
              .layers = {},
              .final_norm = std::nullopt};
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    ASSIGN_OR_RETURN(Layer layer,
                     LoadLayer(compute, weights, absl::StrCat(name, ".", i),
                               hidden, spec.layers[i], precision));
    stack.layers.push_back(std::move(layer));
  }
  if (spec.layers.front().norm_place == NormPlace::kPre) {
    ASSIGN_OR_RETURN(stack.final_norm,
                     LoadNorm(weights, absl::StrCat(name, ".norm"), hidden,
                              spec.layers.front().norm));
  }
  return stack;
}

KvLayout KvLayoutOf(const StackSpec& stack, int layers, DType dtype) {
  const AttentionSpec& attention = stack.layers.front().self_attention;
  return {.layers = layers,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .dtype = dtype};
}

}  // namespace attend
