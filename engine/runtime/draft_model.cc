#include "engine/runtime/draft_model.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/runtime/drafter.h"
#include "engine/runtime/model_memory.h"

namespace attend {
namespace {

double AttentionCost(const AttentionSpec& spec, int hidden) {
  return 2.0 * hidden * spec.head_dim * (spec.heads + spec.kv_heads);
}

}  // namespace

KvLayout DraftModel::kv_layout() const {
  return transformer->decoder_kv_layout(
      options.kv_cache_dtype.value_or(DefaultKvType(transformer->dtype())));
}

std::unique_ptr<ModelDraft> DraftModel::NewDraft(const EngineInput& input,
                                                 int tokens,
                                                 uint64_t salt) const {
  std::unique_ptr<SourceEncode> source;
  const auto* const given = std::get_if<SourceTokens>(&input);
  if (given != nullptr) {
    const int size = static_cast<int>(given->ids.size());
    const bool known =
        std::all_of(given->ids.begin(), given->ids.end(),
                    [this](int id) { return id < source_vocab; });
    if (!known || size > options.max_source_tokens) return nullptr;
    source = SourceEncode::Make(*transformer, *given,
                                {.block_tokens = KvLayout::kBlockTokens,
                                 .for_decoder = true,
                                 .shares = options.prefix_cache,
                                 .salt = salt});
  }
  const int positions = transformer->spec().decoder->embedding.max_positions;
  return std::make_unique<ModelDraft>(
      std::move(source),
      ModelDraft::Options{.max_tokens = std::min(tokens, positions),
                          .vocab = vocab,
                          // With an encoder, keys and values depend on the
                          // source too.
                          .shares = options.prefix_cache && given == nullptr,
                          .salt = salt,
                          .cost = cost});
}

// Cross-attention has no keys and values to make: those of a source are made
// once.
double DecoderRowCost(const TransformerSpec& spec) {
  const double hidden = spec.hidden;
  double cost = hidden * spec.decoder->embedding.vocab;
  for (const LayerSpec& layer : spec.decoder->layers) {
    cost += AttentionCost(layer.self_attention, spec.hidden);
    if (layer.cross_attention) {
      cost += AttentionCost(*layer.cross_attention, spec.hidden) / 2;
    }
    cost += hidden * static_cast<double>(layer.feed_forward.RowProducts());
  }
  return cost;
}

EngineOptions DraftOptions(const TransformerSpec& draft, ComputeType dtype,
                           const EngineOptions& of_target, int pool_tokens) {
  EngineOptions result = of_target;
  result.max_step_rows = Drafter::kStepRows;
  result.prompt_lookup = false;
  result.shortlist = {};
  result.dtype = dtype;
  result.kv_cache_bytes = BytesOfTokens(draft, dtype, of_target, pool_tokens);
  return FitOptions(draft, result);
}

}  // namespace attend
