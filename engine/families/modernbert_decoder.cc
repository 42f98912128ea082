// The decoder of ModernBERT: Weller et al. 2025 (Ettin).

#include <vector>

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/modernbert.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr int kDefaultPad = 50283;

absl::StatusOr<TransformerSpec> SpecOf(const JsonFile& config) {
  ASSIGN_OR_RETURN(const DecoderSizes sizes, ReadDecoderSizes(config, {}));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon, EpsilonOr(config, "norm_eps", 1e-5f));
  ASSIGN_OR_RETURN(
      layer.self_attention,
      DividedHeads(config, "num_attention_heads", sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(layer.feed_forward.width,
                   Number(config, {"intermediate_size"}, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "hidden_activation", "gelu"));
  TransformerSpec spec = DecoderOf(sizes, layer);
  spec.decoder->embedding.norm = layer.norm;
  // null would hide all tokens from the layers that slide.
  if (config.IsNull("local_attention")) {
    return config.Unexpected("local_attention", "a number");
  }
  RETURN_IF_ERROR(ReadModernBertLayers(config, true, *spec.decoder));
  return spec;
}

absl::Status AddNames(const JsonFile& config, const ModernBertBiases& biases,
                      NameTable& names) {
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, ModernBertNames("embeddings.tok_embeddings.weight"),
              {"decoder.weight"}, names);
  AddModernBertLayers("decoder", biases, names);
  static constexpr SlotName kQkv[] = {{"self.q", "attn.q_proj"},
                                      {"self.k", "attn.k_proj"},
                                      {"self.v", "attn.v_proj"}};
  AddList("decoder.{}.", ModernBertNames("layers.{}."), kQkv, biases.attention,
          names);
  return absl::OkStatus();
}

// The layer between the last norm and the logits of tokens or labels.
void AddLogits(const ModernBertBiases& biases, Activation activation,
               Family& family) {
  TransformerSpec& spec = family.spec;
  spec.logits_projection = {.out = spec.hidden,
                            .activation = activation,
                            .norm = spec.decoder->layers[0].norm};
  AddWeights("logits.projection", {"lm_head.dense"}, biases.classifier,
             family.names);
  AddWeights("logits.projection.norm", {"lm_head.norm"}, biases.norm,
             family.names);
  spec.logits_bias = biases.decoder;
  if (biases.decoder) {
    AddTensor("logits.bias", {"decoder.bias"}, family.names);
  }
}

}  // namespace

absl::StatusOr<Family> LoadModernBertDecoder(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  RETURN_IF_ERROR(config.ExpectNeutral("rope_scaling", 0));
  Family family;
  ASSIGN_OR_RETURN(family.spec, SpecOf(config));
  ASSIGN_OR_RETURN(const ModernBertBiases biases, ReadModernBertBiases(config));
  RETURN_IF_ERROR(AddNames(config, biases, family.names));
  ASSIGN_OR_RETURN(const Activation activation,
                   ActivationOr(config, "classifier_activation", "gelu"));
  AddLogits(biases, activation, family);
  const LayerSpec& layer = family.spec.decoder->layers[0];
  const std::vector<HeadLayer> labels = {
      {"head.dense",
       {family.spec.hidden, activation, layer.norm},
       "head.norm",
       biases.classifier,
       biases.norm},
      {.tensor = "classifier", .spec = {}, .bias = biases.classifier}};
  RETURN_IF_ERROR(UseDecoderAs(config,
                               {.name = "ModernBertDecoder",
                                .labels = labels,
                                .token_layer = "",
                                .padding_id = kDefaultPad},
                               family));
  return family;
}

}  // namespace attend
