#include "engine/runtime/model_memory.h"

#include <algorithm>
#include <limits>
#include <string>

#include "engine/checkpoint/unused_tensors.h"
#include "engine/layers/distance_rows.h"
#include "engine/ops/logits/listed_projection.h"
#include "engine/transformer/activations.h"
#include "engine/transformer/stack.h"

namespace attend {
namespace {

bool IsTable(const TensorView& view, const TransformerSpec& spec) {
  const auto has_rows = [&](const std::optional<StackSpec>& stack) {
    return stack && view.shape[0] == stack->embedding.vocab;
  };
  return view.shape.size() == 2 &&
         (has_rows(spec.encoder) || has_rows(spec.decoder));
}

KvLayout LayoutOfPool(const TransformerSpec& spec, ComputeType dtype,
                      const EngineOptions& options) {
  return KvLayoutOf(*spec.decoder,
                    static_cast<int>(spec.decoder->layers.size()),
                    options.kv_cache_dtype.value_or(DefaultKvType(dtype)));
}

// Bytes of the tables of distances: a row for each distance that differs.
uint64_t DistanceBytes(const TransformerSpec& spec, ComputeType dtype) {
  const StackSpec& encoder = *spec.encoder;
  const DistanceSpec& distances = *encoder.distances;
  const DistanceRows rows = {.side = distances.side,
                             .max_distance = distances.max_distance};
  uint64_t numbers = 0;
  for (const LayerSpec& layer : encoder.layers) {
    const AttentionSpec& attention = layer.self_attention;
    numbers += uint64_t{1} * attention.heads * attention.head_dim;
  }
  const int tables = (distances.keys ? 1 : 0) + (distances.queries ? 1 : 0);
  const uint64_t bytes = dtype == ComputeType::kF32 ? 4 : 2;
  return numbers * tables * bytes *
         rows.Table(encoder.embedding.max_positions).size();
}

// Bytes of the biases of scores: a number for each distance and head.
uint64_t BiasBytes(const TransformerSpec& spec) {
  uint64_t bytes = 0;
  for (const auto& stack : {spec.encoder, spec.decoder}) {
    if (!stack || !stack->relative_bias || stack->layers.empty()) continue;
    const RelativeBiasSpec& bias = *stack->relative_bias;
    const uint64_t tables = bias.per_layer ? stack->layers.size() : 1;
    bytes += tables * stack->layers.front().self_attention.heads *
             sizeof(float) * 2 * bias.max_distance;
  }
  return bytes;
}

// Numbers of a row that the vocabulary projection reads.
int LogitsWidth(const TransformerSpec& spec) {
  return spec.logits_projection ? spec.logits_projection->out : spec.hidden;
}

// The second planes of precise weights, but for those behind massive channels,
// which only the weights tell: some hundredths of a model that has them.
uint64_t PreciseBytes(const TransformerSpec& spec, ComputeType dtype) {
  if (dtype != ComputeType::kInt8) return 0;
  uint64_t numbers = uint64_t{1} * LogitsWidth(spec) * PreciseTokens(spec);
  for (const auto& stack : {spec.encoder, spec.decoder}) {
    if (!stack) continue;
    for (const LayerSpec& layer : stack->layers) {
      numbers +=
          uint64_t{1} * spec.hidden * PreciseValues(layer.self_attention);
    }
  }
  return PackedBytes(dtype, numbers);
}

}  // namespace

// See EncodeBuffer: hidden state and query of a row in f32, key and value in
// bf16 at least.
uint64_t EncodeRowBytes(const TransformerSpec& spec) {
  uint64_t bytes = 0;
  for (const LayerSpec& layer : spec.encoder->layers) {
    const AttentionSpec& attention = layer.self_attention;
    bytes = std::max<uint64_t>(
        bytes, uint64_t{4} * attention.head_dim *
                   (uint64_t{1} * attention.heads + attention.kv_heads));
  }
  return bytes + uint64_t{4} * spec.hidden;
}

uint64_t WeightBytes(const TensorSource& source, const NameTable& names,
                     const TransformerSpec& spec, ComputeType dtype) {
  uint64_t bytes = 0;
  uint64_t table = 0;
  for (const std::string& name : source.Names()) {
    const absl::StatusOr<TensorView> view = source.Find(name);
    if (!view.ok() || IsUnused(names, name)) continue;
    const uint64_t numbers = view->count();
    if (IsTable(*view, spec)) {
      table = std::max<uint64_t>(
          table, std::min<uint64_t>(BytesOf(view->type, numbers),
                                    PackedBytes(dtype, numbers)));
    } else if (spec.adapters && view->shape.size() == 3) {
      // Adapters: tables and second matrices are in f32, first matrices have
      // two planes in int8.
      bytes += numbers * sizeof(float);
    } else {
      bytes += PackedBytes(dtype, numbers);
    }
  }
  return bytes + table + PreciseBytes(spec, dtype);
}

int PoolTokens(const TransformerSpec& spec, ComputeType dtype,
               const EngineOptions& options) {
  if (!spec.decoder) return 0;
  const uint64_t blocks =
      options.kv_cache_bytes / LayoutOfPool(spec, dtype, options).block_bytes();
  return static_cast<int>(std::min<uint64_t>(blocks * KvLayout::kBlockTokens,
                                             std::numeric_limits<int>::max()));
}

size_t BytesOfTokens(const TransformerSpec& spec, ComputeType dtype,
                     const EngineOptions& options, int tokens) {
  const KvLayout layout = LayoutOfPool(spec, dtype, options);
  const size_t blocks =
      (size_t{1} * tokens + layout.block_tokens - 1) / layout.block_tokens;
  return blocks * layout.block_bytes();
}

std::vector<MemoryNeed> ServingNeeds(const TransformerSpec& spec,
                                     ComputeType dtype,
                                     const EngineOptions& options) {
  std::vector<MemoryNeed> needs;
  if (spec.decoder) {
    needs.push_back({"the KV cache (kv_cache_bytes)", options.kv_cache_bytes});
  }
  if (spec.encoder) {
    const uint64_t rows =
        uint64_t{1} * options.max_source_tokens + options.max_step_rows;
    needs.push_back({"the buffer of encodes (max_source_tokens)",
                     rows * EncodeRowBytes(spec)});
  }
  if (spec.encoder && spec.encoder->distances) {
    needs.push_back({"the tables of distances (max_position_embeddings)",
                     DistanceBytes(spec, dtype)});
  }
  if (const uint64_t bytes = BiasBytes(spec); bytes > 0) {
    needs.push_back(
        {"the biases of distances (relative_attention_max_distance)", bytes});
  }
  if (spec.decoder && !options.shortlist.path.empty()) {
    needs.push_back({"the logits' weights, once more (shortlist)",
                     ListedProjection::BytesFor(dtype, spec.LogitsVocab(),
                                                LogitsWidth(spec))});
  }
  needs.push_back({"activations (max_batch_tokens)",
                   Activations::BytesFor(spec, dtype, options.max_step_rows)});
  return needs;
}

}  // namespace attend
