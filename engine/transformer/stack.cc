#include "engine/transformer/stack.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/distances.h"

namespace attend {
namespace {

// Slot "<name>.relative_bias" [buckets, heads].
absl::StatusOr<std::unique_ptr<const RelativeBias>> LoadRelativeBias(
    Weights& weights, const std::string& name, const StackSpec& spec,
    bool causal) {
  const DistanceBuckets buckets = {
      .buckets = spec.relative_bias->buckets,
      .max_distance = spec.relative_bias->max_distance,
      .bidirectional = !causal};
  const int heads = spec.layers.front().self_attention.heads;
  ASSIGN_OR_RETURN(const Buffer<float> table,
                   weights.Read(absl::StrCat(name, ".relative_bias"),
                                {buckets.buckets, heads}));
  return std::make_unique<const RelativeBias>(
      ConstMatrix{table.data(), buckets.buckets, heads}, buckets);
}

// Loads the biases of `stack`, whose name is `name`, as `spec` has them.
absl::Status LoadRelativeBiases(Weights& weights, const std::string& name,
                                const StackSpec& spec, bool causal,
                                Stack& stack) {
  if (!spec.relative_bias) return absl::OkStatus();
  const bool per_layer = spec.relative_bias->per_layer;
  const size_t count = per_layer ? spec.layers.size() : 1;
  stack.relative_biases.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(
        auto bias,
        LoadRelativeBias(weights, per_layer ? absl::StrCat(name, ".", i) : name,
                         spec, causal));
    stack.relative_biases.push_back(std::move(bias));
  }
  return absl::OkStatus();
}

// The bias of layer `index`; empty if the layers have none.
DistanceBias BiasOf(const Stack& stack, size_t index) {
  const auto& biases = stack.relative_biases;
  if (biases.empty()) return {};
  return biases[biases.size() > 1 ? index : 0]->bias();
}

// The angles of each kind that layers have, and which of them a layer has.
class Rotaries {
 public:
  // `stored`: frequencies that count for all layers, or none.
  Rotaries(int max_positions, std::vector<float> stored)
      : max_positions_(max_positions), stored_(std::move(stored)) {}

  const Rotary* Of(const AttentionSpec& attention) {
    if (!attention.rotary) return nullptr;
    RotarySpec spec = *attention.rotary;
    if (!stored_.empty()) spec.frequencies = stored_;
    const auto known = std::find(specs_.begin(), specs_.end(), spec);
    const size_t index = known - specs_.begin();
    if (known == specs_.end()) {
      specs_.push_back(spec);
      made_.push_back(std::make_unique<const Rotary>(spec, max_positions_));
    }
    return made_[index].get();
  }
  std::vector<std::unique_ptr<const Rotary>> Take() { return std::move(made_); }

 private:
  const int max_positions_;
  const std::vector<float> stored_;
  std::vector<RotarySpec> specs_;
  std::vector<std::unique_ptr<const Rotary>> made_;
};

// Slot "<name>.frequencies"; empty if nothing is stored there.
absl::StatusOr<std::vector<float>> LoadFrequencies(Weights& weights,
                                                   const std::string& name,
                                                   const StackSpec& spec) {
  const std::string slot = name + ".frequencies";
  if (!spec.stored_frequencies || !weights.Has(slot)) {
    return std::vector<float>();
  }
  const auto& rotary = spec.layers.front().self_attention.rotary;
  const int count = static_cast<int>(rotary->frequencies.size());
  ASSIGN_OR_RETURN(const Buffer<float> stored, weights.Read(slot, {count}));
  return std::vector<float>(stored.data(), stored.data() + count);
}

// A loaded layer that has the same spec and weights as layer `index`; null if
// there is none.
std::shared_ptr<const Layer> LayerLike(const Weights& weights,
                                       const std::string& name,
                                       const StackSpec& spec,
                                       const Stack& stack, size_t index) {
  const bool has_bias = spec.relative_bias && spec.relative_bias->per_layer;
  for (size_t i = 0; i < index; ++i) {
    if (spec.layers[i] != spec.layers[index]) continue;
    const auto same = [&](const char* slot) {
      return weights.AreSame(absl::StrCat(name, ".", i, slot),
                             absl::StrCat(name, ".", index, slot));
    };
    if (same(".self.q.weight") && same(".self.k.weight") &&
        same(".self.v.weight") && same(".self.out.weight") &&
        same(".ffn.in.weight") && same(".ffn.out.weight") &&
        same(".ffn.norm.weight") && (!has_bias || same(".relative_bias"))) {
      return stack.layers[i];
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Stack> LoadStack(Primitives& primitives, Weights& weights,
                                TokenTables& tables, StackKind kind, int hidden,
                                const StackSpec& spec,
                                const LoadOptions& options) {
  const std::string name = kind == StackKind::kEncoder ? "encoder" : "decoder";
  ASSIGN_OR_RETURN(Embedding embedding,
                   LoadEmbedding(primitives, weights, tables,
                                 absl::StrCat(name, ".embedding"), hidden,
                                 spec.embedding, options));
  Stack stack{.embedding = std::move(embedding),
              .relative_biases = {},
              .distances = {},
              .rotaries = {},
              .convolution = std::nullopt,
              .layers = {},
              .final_norm = std::nullopt};
  RETURN_IF_ERROR(LoadRelativeBiases(weights, name, spec,
                                     kind == StackKind::kDecoder, stack));
  int positions = spec.embedding.max_positions;
  if (kind == StackKind::kDecoder) {
    positions = std::min(positions, options.max_positions);
  }
  std::optional<Distances> distances;
  if (spec.distances) {
    ASSIGN_OR_RETURN(
        distances, Distances::Load(primitives.compute(), weights, name, hidden,
                                   spec, options.paired_keys));
  }
  ASSIGN_OR_RETURN(std::vector<float> frequencies,
                   LoadFrequencies(weights, name, spec));
  if (spec.convolution) {
    ASSIGN_OR_RETURN(stack.convolution,
                     LoadConvolution(primitives, weights, name + ".convolution",
                                     hidden, *spec.convolution, options));
  }
  Rotaries rotaries(positions, std::move(frequencies));
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    if (const auto same = LayerLike(weights, name, spec, stack, i)) {
      stack.layers.push_back(same);
      continue;
    }
    const std::string prefix = absl::StrCat(name, ".", i);
    SharedPositions shared = {
        .bias = BiasOf(stack, i),
        .rotary = rotaries.Of(spec.layers[i].self_attention)};
    if (distances) {
      ASSIGN_OR_RETURN(
          stack.distances.emplace_back(),
          distances->Of(weights, prefix, spec.layers[i].self_attention));
      shared.distances = stack.distances.back()->products();
    }
    ASSIGN_OR_RETURN(Layer layer, LoadLayer(primitives, weights, prefix, hidden,
                                            spec.layers[i], shared, options));
    stack.layers.push_back(std::make_shared<const Layer>(std::move(layer)));
  }
  stack.rotaries = rotaries.Take();
  if (!spec.layers.empty() &&
      spec.layers.front().norm_place == NormPlace::kPre) {
    ASSIGN_OR_RETURN(stack.final_norm,
                     LoadNorm(weights, absl::StrCat(name, ".norm"), hidden,
                              spec.layers.front().norm));
  }
  return stack;
}

KvLayout KvLayoutOf(const StackSpec& stack, int layers, KvType dtype) {
  if (stack.layers.empty()) {
    // Nothing reads these keys; a block has a size all the same.
    return {.layers = layers, .kv_heads = 1, .head_dim = 1, .dtype = dtype};
  }
  const AttentionSpec& attention = stack.layers.front().self_attention;
  return {.layers = layers,
          .kv_heads = attention.kv_heads,
          .head_dim = attention.head_dim,
          .dtype = dtype};
}

}  // namespace attend
