// OPT: Zhang et al. 2022.

#include <string>
#include <vector>

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

absl::StatusOr<TransformerSpec> OptSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes, ReadDecoderSizes(config, {}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(const bool before,
                   config.BoolOr("do_layer_norm_before", true));
  layer.norm_place = before ? NormPlace::kPre : NormPlace::kPost;
  ASSIGN_OR_RETURN(
      layer.self_attention,
      DividedHeads(config, "num_attention_heads", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {"ffn_dim"}, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation_function", "relu"));
  TransformerSpec spec = DecoderOf(sizes, layer);
  EmbeddingSpec& embedding = spec.decoder->embedding;
  embedding.positions = Positions::kLearned;
  embedding.position_offset = 2;
  // OPT-350M's tables are narrower than its layers.
  ASSIGN_OR_RETURN(embedding.width, NumberOr(config, "word_embed_proj_dim",
                                             sizes.hidden, kHidden));
  if (embedding.width != sizes.hidden) {
    embedding.projects_tokens = true;
    spec.logits_projection = {.out = embedding.width};
  }
  return spec;
}

absl::Status CheckOptSupported(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  RETURN_IF_ERROR(ExpectFlags(
      config, {"enable_bias", "layer_norm_elementwise_affine"}, true));
  return ExpectFlags(config, {"_remove_final_layer_norm"}, false);
}

absl::Status AddOptNames(const JsonFile& config, const TransformerSpec& spec,
                         NameTable& names) {
  const std::vector<std::string> model = {"model.decoder.", "decoder."};
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"embed_tokens.weight"}),
              {"lm_head.weight"}, names);
  AddTensor("decoder.embedding.positions",
            WithPrefixes(model, {"embed_positions.weight"}), names);
  if (spec.logits_projection) {
    AddTensor("decoder.embedding.projection.weight",
              WithPrefixes(model, {"project_in.weight"}), names);
    AddTensor("logits.projection.weight",
              WithPrefixes(model, {"project_out.weight"}), names);
  }
  if (spec.decoder->layers.front().norm_place == NormPlace::kPre) {
    AddWeights("decoder.norm", WithPrefixes(model, {"final_layer_norm"}),
               Bias::kYes, names);
  }
  AddFairseqBranches("decoder.{}.", WithPrefixes(model, {"layers.{}."}), names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadOpt(const JsonFile& config) {
  Family family;
  ASSIGN_OR_RETURN(family.spec, OptSpec(config));
  RETURN_IF_ERROR(CheckOptSupported(config));
  RETURN_IF_ERROR(AddOptNames(config, family.spec, family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config,
      {.name = "OPT", .token_layer = "", .padding_id = 1, .both_ways = false},
      family));
  return family;
}

}  // namespace attend
