// Granite 3: IBM 2024.

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr FloatRange kMultiplier = {1e-6, 1e6};

// x + m * f(norm(x)) with x = m * y is m * (y + f(norm(y))), where the epsilon
// of the norm is divided by m^2: the factor is in the embeddings.
absl::Status SetMultipliers(const JsonFile& config, TransformerSpec& spec) {
  const auto multiplier = [&](const char* key) {
    return config.FloatOr(key, 1, kMultiplier);
  };
  ASSIGN_OR_RETURN(const double embedding, multiplier("embedding_multiplier"));
  ASSIGN_OR_RETURN(const double residual, multiplier("residual_multiplier"));
  ASSIGN_OR_RETURN(const double attention, multiplier("attention_multiplier"));
  ASSIGN_OR_RETURN(const double logits, multiplier("logits_scaling"));
  spec.decoder->embedding.scale = static_cast<float>(embedding / residual);
  spec.logits_scale = static_cast<float>(1 / logits);
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.norm.epsilon =
        static_cast<float>(layer.norm.epsilon / (residual * residual));
    layer.self_attention.scale = static_cast<float>(attention);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadGranite(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  const LlamaDefaults defaults;
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  RETURN_IF_ERROR(SetMultipliers(config, family.spec));
  RETURN_IF_ERROR(AddLlamaTable(config, defaults, family.names));
  ASSIGN_OR_RETURN(const Bias attention, BiasFlag(config, "attention_bias"));
  ASSIGN_OR_RETURN(const Bias feed_forward, BiasFlag(config, "mlp_bias"));
  AddLlamaQkv(attention, family.names);
  AddLlamaOut(attention, family.names);
  AddLlamaFeedForward(feed_forward, family.names);
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "Granite", .token_layer = "", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
