// BioGPT: Luo et al. 2022.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/fairseq.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::StatusOr<TransformerSpec> BioGptSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes, ReadDecoderSizes(config, {}));
  LayerSpec layer;
  // transformers does not read layer_norm_eps.
  layer.norm.epsilon = kFairseqEpsilon;
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(
      layer.self_attention,
      DividedHeads(config, "num_attention_heads", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {"intermediate_size"}, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "hidden_act", "gelu"));
  TransformerSpec spec = DecoderOf(sizes, layer);
  EmbeddingSpec& embedding = spec.decoder->embedding;
  embedding.positions = Positions::kLearned;
  embedding.position_offset = 2;
  ASSIGN_OR_RETURN(embedding.scale,
                   FairseqScale(config, spec.hidden, /*fallback=*/true));
  return spec;
}

}  // namespace

absl::StatusOr<Family> LoadBioGpt(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, BioGptSpec(config));
  RETURN_IF_ERROR(
      AddFairseqDecoder(config, "biogpt.", "output_projection", family.names));
  AddTensor("decoder.embedding.positions",
            {"biogpt.embed_positions.weight", "embed_positions.weight"},
            family.names);
  RETURN_IF_ERROR(UseDecoderAs(config,
                               {.name = "BioGpt",
                                .token_layer = "classifier",
                                .padding_id = 1,
                                .both_ways = false},
                               family));
  return family;
}

}  // namespace attend
