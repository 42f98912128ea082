#include "engine/transformer/transformer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/tensor/row_source.h"
#include "engine/tensor/status_macros.h"
#include "engine/transformer/token_score_row.h"

namespace attend {
namespace {

int OutputOf(const std::vector<DenseSpec>& layers, int in) {
  return layers.empty() ? in : layers.back().out;
}

// The most numbers of a head.
int WidestHead(const TransformerSpec& spec) {
  int widest = 0;
  for (const auto& stack : {spec.encoder, spec.decoder}) {
    if (!stack) continue;
    for (const LayerSpec& layer : stack->layers) {
      widest = std::max(widest, layer.self_attention.head_dim);
      if (!layer.cross_attention) continue;
      widest = std::max(widest, layer.cross_attention->head_dim);
    }
  }
  return widest;
}

KvLayout EncoderKvLayout(const TransformerSpec& spec, ComputeType dtype,
                         Isa isa) {
  if (!spec.encoder) return {};
  const StackSpec& encoder = *spec.encoder;
  KvLayout paired = KvLayoutOf(encoder, 1, KvType::kBf16);
  paired.together = MostTogether(isa, paired);
  const bool windows = std::any_of(
      encoder.layers.begin(), encoder.layers.end(),
      [](const LayerSpec& layer) { return layer.self_attention.window > 0; });
  if (dtype != ComputeType::kF32 && !windows && paired.together == 2) {
    return paired;
  }
  return KvLayoutOf(encoder, 1, KvType::kF32);
}

// The logits are more sensitive than other products, and often tokens are
// looked up in their weights: in int4 these have 8 bits, unless the file has 4.
ComputeType LogitsType(ComputeType dtype, const RowSource& weights) {
  if (dtype != ComputeType::kInt4) return dtype;
  std::vector<FourBitGroup> row(GroupsOf(ComputeType::kInt4, weights.cols()));
  return weights.ReadFourBits(0, absl::MakeSpan(row)) ? ComputeType::kInt4
                                                      : ComputeType::kW8;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transformer>> Transformer::Load(
    Compute& compute, const TransformerSpec& spec, Weights& weights,
    const LoadOptions& options) {
  RETURN_IF_ERROR(spec.Validate());
  std::unique_ptr<Transformer> transformer(
      new Transformer(compute, spec, options.dtype));
  TokenTables tables(weights);
  // The logits come first: stacks may look tokens up in their weights.
  RETURN_IF_ERROR(transformer->LoadLogits(weights, tables, options));
  LoadOptions of_encoder = options;
  of_encoder.paired_keys = transformer->encoder_kv_layout_.together == 2;
  of_encoder.adapters = spec.adapters;
  if (spec.encoder) {
    ASSIGN_OR_RETURN(transformer->encoder_,
                     LoadStack(transformer->primitives_, weights, tables,
                               StackKind::kEncoder, spec.hidden,
                               *transformer->spec_.encoder, of_encoder));
  }
  if (spec.decoder) {
    ASSIGN_OR_RETURN(transformer->decoder_,
                     LoadStack(transformer->primitives_, weights, tables,
                               StackKind::kDecoder, spec.hidden,
                               *transformer->spec_.decoder, options));
  }
  RETURN_IF_ERROR(transformer->LoadHeads(weights));
  return transformer;
}

Transformer::Transformer(Compute& compute, const TransformerSpec& spec,
                         ComputeType dtype)
    : primitives_(compute, AttentionScratchFloats(WidestHead(spec))),
      spec_(spec),
      dtype_(dtype),
      isa_(compute.isa()),
      encoder_kv_layout_(EncoderKvLayout(spec, dtype, compute.isa())) {
  CountStageCosts();
}

absl::Status Transformer::LoadHeads(Weights& weights) {
  const LoadOptions options = {.dtype = ComputeType::kF32,
                               .max_rows = kMaxHeadRows};
  for (int route = 0; route < spec_.Routes(); ++route) {
    ASSIGN_OR_RETURN(std::vector<Dense> embed,
                     LoadDense(primitives_, weights, RouteSlot(route),
                               spec_.PooledWidth(route),
                               spec_.Route(route).layers, options));
    embeds_.emplace_back(std::move(embed));
  }
  if (spec_.embed.sparse) {
    ASSIGN_OR_RETURN(std::vector<Dense> sparse,
                     LoadDense(primitives_, weights, "sparse", spec_.hidden,
                               spec_.embed.sparse->layers, options));
    sparse_ = Head(std::move(sparse));
  }
  if (spec_.embed.tokens) {
    ASSIGN_OR_RETURN(std::vector<Dense> tokens,
                     LoadDense(primitives_, weights, "tokens", spec_.hidden,
                               spec_.embed.tokens->layers, options));
    tokens_ = Head(std::move(tokens));
  }
  if (!spec_.head) return absl::OkStatus();
  if (spec_.head->yes_id >= 0) return LoadTokenScore(weights);
  ASSIGN_OR_RETURN(std::vector<Dense> head,
                   LoadDense(primitives_, weights, "head", spec_.hidden,
                             spec_.head->layers, options));
  head_ = Head(std::move(head));
  return absl::OkStatus();
}

absl::Status Transformer::LoadTokenScore(Weights& weights) {
  const HeadSpec& head = *spec_.head;
  ASSIGN_OR_RETURN(
      const auto rows,
      weights.Rows("logits.weight",
                   {spec_.decoder->embedding.vocab, spec_.hidden}));
  ASSIGN_OR_RETURN(Linear linear,
                   Linear::Create(primitives_, ComputeType::kF32,
                                  TokenScoreRow(*rows, head.yes_id, head.no_id),
                                  {}, kMaxHeadRows));
  std::vector<Dense> layers;
  layers.emplace_back(Dense::Parts{.out = 1, .linear = std::move(linear)});
  head_ = Head(std::move(layers));
  return absl::OkStatus();
}

absl::Status Transformer::LoadLogits(Weights& weights, TokenTables& tables,
                                     const LoadOptions& load) {
  if (vocab() == 0) return absl::OkStatus();
  const int max_rows = std::min(load.max_rows, kMaxLogitsRows);
  int in =
      spec_.decoder ? spec_.hidden : OutputOf(spec_.head->layers, spec_.hidden);
  if (const auto& projection = spec_.logits_projection) {
    constexpr char kProjection[] = "logits.projection";
    const LoadOptions options = {.dtype = dtype_, .max_rows = max_rows};
    ASSIGN_OR_RETURN(logits_in_, LoadLinear(primitives_, weights, {kProjection},
                                            in, {projection->out}, options));
    in = projection->out;
    if (projection->norm) {
      ASSIGN_OR_RETURN(logits_in_norm_,
                       LoadNorm(weights, absl::StrCat(kProjection, ".norm"), in,
                                *projection->norm));
    }
  }
  constexpr char kSlot[] = "logits.weight";
  ASSIGN_OR_RETURN(const auto rows, weights.Rows(kSlot, {vocab(), in}));
  Buffer<float> bias;
  if (spec_.logits_bias) {
    ASSIGN_OR_RETURN(bias, weights.Read("logits.bias", {vocab()}));
  }
  const ComputeType dtype = LogitsType(dtype_, *rows);
  const std::vector<float> same_bias =
      load.lists_tokens
          ? std::vector<float>(bias.data(), bias.data() + bias.size())
          : std::vector<float>();
  ASSIGN_OR_RETURN(
      logits_,
      Projection::Create(primitives_, dtype, *rows, std::move(bias), max_rows,
                         spec_.logits_softcap, {0, PreciseTokens(spec_)}));
  if (load.lists_tokens) {
    listed_logits_.emplace(primitives_, dtype, *rows, same_bias,
                           spec_.logits_softcap);
  }
  tables.Share(kSlot, logits_->weights());
  return absl::OkStatus();
}

void Transformer::CountStageCosts() {
  if (!spec_.encoder) return;
  // The cost is the number of multiplications in a row's matmuls, which
  // dominate at usual lengths.
  const int64_t hidden = spec_.hidden;
  for (const LayerSpec& layer : spec_.encoder->layers) {
    const AttentionSpec& attention = layer.self_attention;
    const int64_t query = int64_t{attention.heads} * attention.head_dim;
    const int64_t key_value =
        2 * int64_t{attention.kv_heads} * attention.head_dim;
    stage_costs_.push_back(hidden * (query + key_value));
    stage_costs_.push_back(hidden * (query + layer.feed_forward.RowProducts()));
  }
  if (const auto& convolution = spec_.encoder->convolution) {
    stage_costs_[1] += hidden * hidden * convolution->size;
  }
  // Without a decoder the last stage is a norm and a copy.
  int64_t last = hidden;
  if (spec_.decoder) {
    for (const LayerSpec& layer : spec_.decoder->layers) {
      const AttentionSpec& attention = *layer.cross_attention;
      last += hidden * 2 * attention.kv_heads * attention.head_dim;
    }
  }
  stage_costs_.push_back(last);
  for (int64_t cost : stage_costs_) row_cost_ += cost;
}

int Transformer::head_width() const {
  int width = 0;
  const auto widen = [&](const std::vector<DenseSpec>& layers) {
    for (const DenseSpec& layer : layers) width = std::max(width, layer.out);
  };
  for (int route = 0; route < spec_.Routes(); ++route) {
    width = std::max(width, spec_.PooledWidth(route));
    widen(spec_.Route(route).layers);
  }
  if (spec_.embed.sparse) widen(spec_.embed.sparse->layers);
  if (spec_.embed.tokens) widen(spec_.embed.tokens->layers);
  if (spec_.head) widen(spec_.head->layers);
  return width;
}

KvLayout Transformer::decoder_kv_layout(KvType dtype) const {
  return DecoderLayout(
      isa_, KvLayoutOf(*spec_.decoder,
                       static_cast<int>(spec_.decoder->layers.size()), dtype));
}

int Transformer::encoder_query_width() const {
  int width = 0;
  for (const auto& layer : encoder_->layers) {
    width = std::max(width, layer->self_attention.shape().query_width());
  }
  return width;
}

int Transformer::EncodeRowsLeft(const EncodeState& state) const {
  int64_t cost = 0;
  for (int stage = state.stage(); stage < encode_stages(); ++stage) {
    const int rows = state.rows() - (stage == state.stage() ? state.row() : 0);
    cost += rows * stage_costs_[stage];
  }
  return static_cast<int>((cost + row_cost_ - 1) / row_cost_);
}

}  // namespace attend
