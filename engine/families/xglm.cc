// XGLM: Lin et al. 2021.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/fairseq.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The row of position 0 in the table of positions.
constexpr int kOffset = 2;

absl::StatusOr<TransformerSpec> XglmSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes,
                   ReadDecoderSizes(config, {.hidden = "d_model",
                                             .heads = "attention_heads",
                                             .layers = "num_layers"}));
  LayerSpec layer;
  layer.norm.epsilon = kFairseqEpsilon;
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(
      layer.self_attention,
      DividedHeads(config, "attention_heads", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {"ffn_dim"}, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation_function", "gelu"));
  if (sizes.hidden % 2 != 0 || sizes.hidden < 4) {
    return config.Unexpected("d_model",
                             "an even number above 2, for the sinusoids");
  }
  // The row of padding is zeros, which no position may have.
  RETURN_IF_ERROR(
      NumberOr(config, "pad_token_id", 1, {0, kOffset - 1}).status());
  TransformerSpec spec = DecoderOf(sizes, layer);
  EmbeddingSpec& embedding = spec.decoder->embedding;
  embedding.positions = Positions::kSinusoidalToEnd;
  embedding.position_offset = kOffset;
  ASSIGN_OR_RETURN(embedding.scale,
                   FairseqScale(config, spec.hidden, /*fallback=*/true));
  return spec;
}

}  // namespace

absl::StatusOr<Family> LoadXglm(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderOf(config, "XGLMForCausalLM"));
  Family family;
  ASSIGN_OR_RETURN(family.spec, XglmSpec(config));
  RETURN_IF_ERROR(AddFairseqDecoder(config, "model.", "lm_head", family.names));
  AddUnused({"model.", ""}, {"embed_positions.weights"}, family.names);
  return family;
}

}  // namespace attend
