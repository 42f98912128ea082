// BioGPT: Luo et al. 2022.

#include <cmath>
#include <string>
#include <vector>

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
  ASSIGN_OR_RETURN(const bool scaled, config.BoolOr("scale_embedding", true));
  if (scaled) embedding.scale = std::sqrt(static_cast<float>(spec.hidden));
  return spec;
}

absl::Status AddBioGptNames(const JsonFile& config, NameTable& names) {
  const std::vector<std::string> model = {"biogpt.", ""};
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"embed_tokens.weight"}),
              {"output_projection.weight"}, names);
  AddTensor("decoder.embedding.positions",
            WithPrefixes(model, {"embed_positions.weight"}), names);
  AddWeights("decoder.norm", WithPrefixes(model, {"layer_norm"}), Bias::kYes,
             names);
  AddFairseqBranches("decoder.{}.", WithPrefixes(model, {"layers.{}."}), names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadBioGpt(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, BioGptSpec(config));
  RETURN_IF_ERROR(AddBioGptNames(config, family.names));
  RETURN_IF_ERROR(UseDecoderAs(config,
                               {.name = "BioGpt",
                                .token_layer = "classifier",
                                .padding_id = 1,
                                .both_ways = false},
                               family));
  return family;
}

}  // namespace attend
