#include "engine/runtime/transformer_engine.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "engine/runtime/transformer_context.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

DecodingLimits LimitsOf(const Transformer& transformer,
                        const EngineOptions& options) {
  const auto& decoder = transformer.spec().decoder;
  return {.vocab = transformer.vocab(),
          .max_target_tokens = decoder ? decoder->embedding.max_positions : 0,
          .max_beams = options.max_beams};
}

// The layout of the pool. A model without a decoder has a pool of no blocks,
// whose layout is never used.
KvLayout LayoutOf(const Transformer& transformer,
                  const EngineOptions& options) {
  if (!transformer.decodes()) return transformer.encoder_kv_layout();
  return transformer.decoder_kv_layout(
      options.kv_cache_dtype.value_or(DefaultKvType(transformer.dtype())));
}

// Fills the fields that differ between routes.
void FillEmbedding(const TransformerSpec& spec, int route, ModelInfo& info) {
  const EmbedSpec& embed = spec.Route(route);
  info.token_width = spec.hidden;
  info.embedding_width = embed.pooled ? spec.EmbedWidth(route) : 0;
  info.pools = embed.pooled;
  info.weighs_tokens = embed.sparse.has_value();
  info.weighs_vocabulary = info.weighs_tokens && embed.sparse->layers.empty();
  info.token_vectors.width = embed.tokens ? spec.TokenWidth() : 0;
  info.pools_prompt = embed.pools_prompt;
}

}  // namespace

TransformerEngine::TransformerEngine(Compute& compute,
                                     std::unique_ptr<Transformer> transformer,
                                     VocabularyTexts token_texts,
                                     ModelInfo info,
                                     const EngineOptions& options,
                                     Beside beside)
    : compute_(compute),
      transformer_(std::move(transformer)),
      draft_(std::move(beside.draft)),
      token_texts_(std::move(token_texts)),
      info_(std::move(info)),
      options_(options),
      shortlist_(std::move(beside.shortlist)),
      source_ngram_size_(beside.source_ngram_size),
      limits_(LimitsOf(*transformer_, options)),
      kv_layout_(LayoutOf(*transformer_, options)),
      pool_blocks_(static_cast<int>(options_.kv_cache_bytes /
                                    kv_layout_.block_bytes())) {
  const TransformerSpec& spec = transformer_->spec();
  info_.dtype = std::string(TypeName(transformer_->dtype()));
  info_.source_vocab = spec.SourceEmbedding().vocab;
  info_.token_types = spec.SourceEmbedding().token_types;
  info_.generates = transformer_->generates() && !HeadReadsDecoder();
  info_.continues_source = info_.generates && !transformer_->encodes();
  info_.embeds = !info_.continues_source;
  if (info_.embeds) FillEmbedding(spec, 0, info_);
  info_.fills_masks = spec.head && spec.head->kind == HeadKind::kMaskedLm;
  info_.finds_spans = spec.head && spec.head->kind == HeadKind::kSpans;
  info_.chooses = spec.head && spec.head->kind == HeadKind::kChoice;
  info_.classifies =
      spec.head && !info_.fills_masks && !info_.finds_spans && !info_.chooses;
  info_.labels_tokens = spec.head && spec.head->kind == HeadKind::kTokens;
  info_.target_vocab = limits_.vocab;
  info_.max_source_tokens = options_.max_source_tokens;
  if (HeadReadsDecoder()) {
    info_.max_source_tokens =
        std::min(info_.max_source_tokens, limits_.max_target_tokens);
  }
  if (info_.max_text_tokens == 0 ||
      info_.max_text_tokens > info_.max_source_tokens) {
    info_.max_text_tokens = info_.max_source_tokens;
  }
  info_.max_target_tokens = limits_.max_target_tokens;
  info_.max_beams = limits_.max_beams;
  info_.max_step_rows = options_.max_step_rows;
  if (info_.continues_source) {
    info_.kv_blocks = pool_blocks_;
    info_.block_tokens = kv_layout_.block_tokens;
  }
  if (spec.routes.empty()) return;
  std::vector<ModelInfo> routes(spec.Routes(), info_);
  for (int i = 0; i < spec.Routes(); ++i) FillEmbedding(spec, i, routes[i]);
  info_.routes = std::move(routes);
}

absl::StatusOr<std::unique_ptr<TransformerEngine>> TransformerEngine::Create(
    Compute& compute, std::unique_ptr<Transformer> transformer,
    VocabularyTexts token_texts, ModelInfo info, const EngineOptions& options,
    Beside beside) {
  RETURN_IF_ERROR(options.Validate());
  ATTEND_CHECK(!transformer->generates() ||
               token_texts.plain.size() == transformer->vocab());
  const EngineOptions limited = FitOptions(transformer->spec(), options);
  std::unique_ptr<TransformerEngine> engine(new TransformerEngine(
      compute, std::move(transformer), std::move(token_texts), std::move(info),
      limited, std::move(beside)));
  if (engine->transformer_->decodes() && engine->pool_blocks_ < 2) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "kv_cache_bytes is %d, one request needs at least two blocks of %d "
        "bytes",
        options.kv_cache_bytes, engine->kv_layout_.block_bytes()));
  }
  return engine;
}

std::unique_ptr<EngineContext> TransformerEngine::NewContext() const {
  return std::make_unique<TransformerContext>(
      *transformer_, compute_, kv_layout_, options_, draft_.get());
}

}  // namespace attend
