// EXAONE 4: LG AI Research 2025.

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

constexpr LlamaDefaults kDefaults = {.kv_heads = 32, .epsilon = 1e-5};

// Beside layers with a window, those that see all tokens have no positions.
absl::Status SetLayerTypes(const JsonFile& config, StackSpec& decoder) {
  const bool slides = !config.IsNull("sliding_window");
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", 4096, kWindow));
  int pattern = 4;
  if (!config.Has("layer_types")) {
    ASSIGN_OR_RETURN(pattern, NumberOr(config, "sliding_window_pattern", 4,
                                       {1, kLayers.max}));
  }
  RETURN_IF_ERROR(SetWindows(
      config, slides ? window : 0,
      [&](int layer) { return slides && (layer + 1) % pattern != 0; },
      decoder));
  for (LayerSpec& layer : decoder.layers) {
    AttentionSpec& attention = layer.self_attention;
    if (slides && attention.window == 0) attention.rotary.reset();
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadExaone4(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kDefaults));
  RETURN_IF_ERROR(SetLayerTypes(config, *family.spec.decoder));
  RETURN_IF_ERROR(AddLlamaEmbeddings(config, kDefaults, family.names));
  NormBranchesAlone(family);
  AddLlamaHeadNorms(family);
  AddLlamaQkv(Bias::kNo, family.names);
  AddLlamaOut(Bias::kNo, family.names);
  AddLlamaFeedForward(Bias::kNo, family.names);
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Exaone4", .both_ways = false}, family));
  return family;
}

}  // namespace attend
