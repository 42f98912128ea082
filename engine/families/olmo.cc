// OLMo 1 to 3: Groeneveld et al. 2024, OLMo Team 2025.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/layer_types.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr LlamaDefaults kDefaults = {};
constexpr LlamaDefaults kSecondDefaults = {.epsilon = 1e-5};
constexpr double kThirdTheta = 500000;

absl::Status AddMatrices(const JsonFile& config, NameTable& names) {
  ASSIGN_OR_RETURN(const Bias attention, BiasFlag(config, "attention_bias"));
  AddLlamaQkv(attention, names);
  AddLlamaOut(attention, names);
  AddLlamaFeedForward(Bias::kNo, names);
  return absl::OkStatus();
}

// The norms have no weights: gamma - 1 is 0.
void RemoveNormWeights(Family& family) {
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.norm = {.epsilon = 1e-5f, .unit_offset = true};
  }
  for (NameRow& row : family.names.rows) {
    if (!absl::EndsWith(row.slot, "norm.weight")) continue;
    row.tensors.clear();
    row.zero_if_missing = true;
  }
}

// OLMo 2 and 3: norms of the branches alone, and of all heads of a query or of
// a key together.
absl::StatusOr<Family> SecondFamily(const JsonFile& config,
                                    const LlamaDefaults& defaults) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  RETURN_IF_ERROR(AddLlamaEmbeddings(config, defaults, family.names));
  NormBranchesAlone(family);
  AddLlamaHeadNorms(family);
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.self_attention.joint_norm = true;
  }
  RETURN_IF_ERROR(AddMatrices(config, family.names));
  return family;
}

absl::Status UseAs(const JsonFile& config, const std::string& name,
                   Family& family) {
  return UseDecoderAs(
      config,
      {.name = name, .token_layer = "", .padding_id = 1, .both_ways = false},
      family);
}

}  // namespace

absl::StatusOr<Family> LoadOlmo(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, kDefaults));
  ASSIGN_OR_RETURN(const double clip,
                   config.FloatOr("clip_qkv", 0, {1e-6, 1e6}));
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.self_attention.clip = static_cast<float>(clip);
  }
  RETURN_IF_ERROR(AddLlamaTable(config, kDefaults, family.names));
  RemoveNormWeights(family);
  RETURN_IF_ERROR(AddMatrices(config, family.names));
  RETURN_IF_ERROR(UseAs(config, "Olmo", family));
  return family;
}

absl::StatusOr<Family> LoadOlmo2(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, SecondFamily(config, kSecondDefaults));
  RETURN_IF_ERROR(UseAs(config, "Olmo2", family));
  return family;
}

absl::StatusOr<Family> LoadOlmo3(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, SecondFamily(config, kSecondDefaults));
  StackSpec& decoder = *family.spec.decoder;
  ASSIGN_OR_RETURN(const int window,
                   NumberOr(config, "sliding_window", 4096, kWindow));
  RETURN_IF_ERROR(SetWindows(
      config, window, [](int layer) { return (layer + 1) % 4 != 0; }, decoder));
  const RotaryDefaults rotary = {
      .theta = kThirdTheta,
      .head_dim = decoder.layers.front().self_attention.head_dim,
      .max_positions = decoder.embedding.max_positions};
  RETURN_IF_ERROR(SetRotaryByType(config, rotary, rotary, decoder));
  RETURN_IF_ERROR(UseAs(config, "Olmo3", family));
  return family;
}

}  // namespace attend
