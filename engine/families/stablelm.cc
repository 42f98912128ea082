// StableLM: Bellagente et al. 2024.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr LlamaDefaults kDefaults = {.kv_heads = 32,
                                     .norm = NormKind::kLayerNorm,
                                     .norm_bias = Bias::kYes,
                                     .epsilon_key = "layer_norm_eps",
                                     .epsilon = 1e-5,
                                     .partial = true,
                                     .fraction = 0.25};

// Each head has a norm of its own, in a tensor of its own (StableLM 2 12B).
void AddHeadNorms(Family& family) {
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.self_attention.head_norm = layer.norm;
    layer.self_attention.norm_by_head = true;
  }
  const auto add = [&](const char* name, int heads) {
    for (int head = 0; head < heads; ++head) {
      AddWeights(absl::StrCat("decoder.{}.self.", name, ".norm.", head),
                 WithPrefixes(LlamaLayerPrefixes(),
                              {absl::StrCat("self_attn.", name,
                                            "_layernorm.norms.", head)}),
                 Bias::kNo, family.names);
    }
  };
  const AttentionSpec& attention =
      family.spec.decoder->layers.front().self_attention;
  add("q", attention.heads);
  add("k", attention.kv_heads);
}

}  // namespace

absl::StatusOr<Family> LoadStableLm(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kDefaults));
  ASSIGN_OR_RETURN(const bool parallel,
                   config.BoolOr("use_parallel_residual", false));
  if (parallel) {
    for (LayerSpec& layer : family.spec.decoder->layers) layer.parallel = true;
    RETURN_IF_ERROR(AddLlamaEmbeddings(config, kDefaults, family.names));
    AddLlamaOneNorm(Bias::kYes, family.names);
  } else {
    RETURN_IF_ERROR(AddLlamaTable(config, kDefaults, family.names));
  }
  ASSIGN_OR_RETURN(const bool head_norms, config.BoolOr("qk_layernorm", false));
  if (head_norms) AddHeadNorms(family);
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "use_qkv_bias"));
  AddLlamaQkv(bias, family.names);
  AddLlamaOut(Bias::kNo, family.names);
  AddLlamaFeedForward(Bias::kNo, family.names);
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "StableLm", .both_ways = false}, family));
  return family;
}

}  // namespace attend
