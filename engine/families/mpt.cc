// MPT: MosaicML 2023, "Introducing MPT-7B".

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/alibi.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Reads "attn_config". An error if it describes another model.
absl::Status ReadAttention(const JsonFile& config, AttentionSpec& attention) {
  if (config.Has("attn_config")) {
    ASSIGN_OR_RETURN(const JsonFile object, config.Object("attn_config"));
    ASSIGN_OR_RETURN(const std::string type,
                     object.StringOr("attn_type", "multihead_attention"));
    if (type != "multihead_attention") {
      return object.Unexpected("attn_type", "multihead_attention");
    }
    RETURN_IF_ERROR(ExpectFlags(object, {"alibi"}, true));
    RETURN_IF_ERROR(ExpectFlags(
        object, {"qk_ln", "prefix_lm", "attn_uses_sequence_id"}, false));
    ASSIGN_OR_RETURN(const double clip,
                     object.FloatOr("clip_qkv", 0, {0, 1e6}));
    attention.clip = static_cast<float>(clip);
    // transformers does not read this field.
    RETURN_IF_ERROR(object.ExpectNeutral("alibi_bias_max", 8));
    ASSIGN_OR_RETURN(
        const double scale,
        object.FloatOr("softmax_scale", attention.scale, {1e-6, 1e3}));
    attention.scale = static_cast<float>(scale);
  }
  attention.slopes = AlibiSlopes(attention.heads);
  return absl::OkStatus();
}

absl::StatusOr<TransformerSpec> MptSpec(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes,
                   ReadDecoderSizes(config, {.hidden = "d_model",
                                             .heads = "n_heads",
                                             .layers = "n_layers",
                                             .positions = "max_seq_len"}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(layer.self_attention,
                   DividedHeads(config, "n_heads", sizes.heads, sizes.hidden));
  RETURN_IF_ERROR(ReadAttention(config, layer.self_attention));
  layer.feed_forward = {.width = 4 * sizes.hidden,
                        .activation = Activation::kGelu};
  return DecoderOf(sizes, layer);
}

absl::Status AddMptNames(const JsonFile& config, NameTable& names) {
  const std::vector<std::string> model = {"transformer.", ""};
  const std::vector<std::string> layer = WithPrefixes(model, {"blocks.{}."});
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"wte.weight"}), {"lm_head.weight"},
              names);
  AddWeights("decoder.norm", WithPrefixes(model, {"norm_f"}), Bias::kNo, names);
  static constexpr SlotName kSlots[] = {{"self.norm", "norm_1"},
                                        {"self.out", "attn.out_proj"},
                                        {"ffn.norm", "norm_2"},
                                        {"ffn.in", "ffn.up_proj"},
                                        {"ffn.out", "ffn.down_proj"}};
  AddList("decoder.{}.", layer, kSlots, Bias::kNo, names);
  static constexpr const char* kQkv[] = {"self.q", "self.k", "self.v"};
  AddSlices("decoder.{}.", kQkv, WithPrefixes(layer, {"attn.Wqkv"}), Bias::kNo,
            names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadMpt(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  RETURN_IF_ERROR(ExpectFlags(config, {"no_bias"}, true));
  // transformers does not read these two fields.
  RETURN_IF_ERROR(config.ExpectNeutral("logit_scale", 1));
  RETURN_IF_ERROR(config.ExpectNeutral("expansion_ratio", 4));
  Family family;
  ASSIGN_OR_RETURN(family.spec, MptSpec(config));
  RETURN_IF_ERROR(AddMptNames(config, family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "Mpt", .token_layer = "classifier", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
