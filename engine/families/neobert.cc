// NeoBERT: Le Breton et al. 2025.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr HeadClass kNeoBertClasses[] = {
    {"NeoBERT"},
    {"NeoBERTLMHead", HeadKind::kMaskedLm},
};

constexpr float kTheta = 10000;

// Two thirds of intermediate_size, rounded up to a multiple of 8.
int WidthOf(int intermediate) { return (2 * intermediate / 3 + 7) / 8 * 8; }

absl::StatusOr<TransformerSpec> NeoBertSpec(const JsonFile& config) {
  RETURN_IF_ERROR(ExpectFlags(
      config, {"ngpt", "is_decoder", "add_cross_attention"}, false));
  RETURN_IF_ERROR(ExpectFlags(config, {"rms_norm", "rope"}, true));
  constexpr char kActivation[] = "hidden_act";
  ASSIGN_OR_RETURN(const std::string activation,
                   config.StringOr(kActivation, "SwiGLU"));
  if (activation != "SwiGLU" && activation != "swiglu") {
    return config.Unexpected(kActivation, "SwiGLU");
  }
  ASSIGN_OR_RETURN(const DecoderSizes sizes,
                   ReadDecoderSizes(config, {.positions = "max_length"}));
  LayerSpec layer;
  layer.norm.kind = NormKind::kRmsNorm;
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(layer.norm.epsilon, EpsilonOr(config, "norm_eps", 1e-6f));
  ASSIGN_OR_RETURN(
      layer.self_attention,
      DividedHeads(config, "num_attention_heads", sizes.heads, sizes.hidden));
  const int head_dim = layer.self_attention.head_dim;
  if (head_dim % 2 != 0) {
    return config.Unexpected("num_attention_heads",
                             "heads of an even size, to be rotated");
  }
  layer.self_attention.rotary = {RotaryFrequencies(kTheta, head_dim)};
  ASSIGN_OR_RETURN(const int intermediate,
                   Number(config, {"intermediate_size"}, {2, kWidth.max}));
  layer.feed_forward = {.width = WidthOf(intermediate),
                        .activation = Activation::kSilu,
                        .gated = true};
  TransformerSpec spec = DecoderOf(sizes, layer);
  spec.encoder = std::move(spec.decoder);
  spec.decoder.reset();
  return spec;
}

void AddNames(const AttentionSpec& attention, NameTable& names) {
  const std::vector<std::string> prefixes = {"model.", ""};
  AddTensor("encoder.embedding.tokens",
            WithPrefixes(prefixes, {"encoder.weight"}), names);
  AddWeights("encoder.norm", WithPrefixes(prefixes, {"layer_norm"}), Bias::kNo,
             names);
  const std::vector<std::string> layers =
      WithPrefixes(prefixes, {"transformer_encoder.{}."});
  const size_t first = names.rows.size();
  AddHeadSlices("encoder.{}.", attention, WithPrefixes(layers, {"qkv"}),
                Bias::kNo, names);
  // Interleaves queries and keys: elements rotated together are adjacent.
  for (size_t row = first; row < first + 2; ++row) {
    names.rows[row].slices.interleaved = attention.head_dim;
  }
  static constexpr const char* kIn[] = {"ffn.gate", "ffn.in"};
  AddSlices("encoder.{}.", kIn, WithPrefixes(layers, {"ffn.w12"}), Bias::kNo,
            names);
  static constexpr SlotName kLayer[] = {{"self.out", "wo"},
                                        {"self.norm", "attention_norm"},
                                        {"ffn.out", "ffn.w3"},
                                        {"ffn.norm", "ffn_norm"}};
  AddList("encoder.{}.", layers, kLayer, Bias::kNo, names);
}

}  // namespace

absl::StatusOr<Family> LoadNeoBert(const JsonFile& config) {
  ASSIGN_OR_RETURN(const auto head, HeadOf(config, kNeoBertClasses));
  Family family;
  ASSIGN_OR_RETURN(family.spec, NeoBertSpec(config));
  AddNames(family.spec.encoder->layers[0].self_attention, family.names);
  if (!head) {
    AddUnused({"decoder."}, {"weight", "bias"}, family.names);
    return family;
  }
  AddHead(*head, {}, family);
  AddWeights("logits", {"decoder"}, Bias::kYes, family.names);
  family.spec.logits_bias = true;
  return family;
}

}  // namespace attend
