// Families that are Llama but for defaults, biases, activations or the order of
// the numbers of a head: AFM (Arcee AI 2025), ERNIE 4.5 (Baidu 2025), Helium
// (Kyutai 2025), Hunyuan (Tencent 2025), Ministral (Mistral AI 2024, 2025),
// Nemotron 4 (Parmar et al. 2024), Seed-OSS (ByteDance 2025).

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/llama_layers.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

struct Biases {
  Bias qkv = Bias::kNo;
  Bias out = Bias::kNo;
  Bias feed_forward = Bias::kNo;
};

// The biases of most families.
absl::StatusOr<Biases> ReadBiases(const JsonFile& config) {
  Biases biases;
  ASSIGN_OR_RETURN(biases.qkv, BiasFlag(config, "attention_bias"));
  biases.out = biases.qkv;
  ASSIGN_OR_RETURN(biases.feed_forward, BiasFlag(config, "mlp_bias"));
  return biases;
}

absl::StatusOr<Family> Relative(const JsonFile& config,
                                const LlamaDefaults& defaults,
                                const Biases& biases) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  Family family;
  ASSIGN_OR_RETURN(family.spec, LlamaSpec(config, defaults));
  RETURN_IF_ERROR(AddLlamaTable(config, defaults, family.names));
  AddLlamaQkv(biases.qkv, family.names);
  AddLlamaOut(biases.out, family.names);
  if (defaults.gated) {
    AddLlamaFeedForward(biases.feed_forward, family.names);
  } else {
    AddLlamaPlainFeedForward(biases.feed_forward, family.names);
  }
  return family;
}

// Heads are normalized after they are rotated.
void AddHunyuanHeadNorms(Family& family) {
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.self_attention.head_norm = layer.norm;
    layer.self_attention.norm_after_rotation = true;
  }
  static constexpr SlotName kNorms[] = {
      {"self.q.norm", "self_attn.query_layernorm"},
      {"self.k.norm", "self_attn.key_layernorm"}};
  AddList("decoder.{}.", LlamaLayerPrefixes(), kNorms, Bias::kNo, family.names);
}

// With "alpha", a rope_type of "dynamic" has the same frequencies for all
// lengths: those of another theta. Returns the file that says so.
absl::StatusOr<JsonFile> WithoutAlpha(const JsonFile& config) {
  const char* const key =
      config.Has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  if (!config.Has(key)) return config;
  ASSIGN_OR_RETURN(const JsonFile rope, config.Object(key));
  const char* const type = rope.Has("rope_type") ? "rope_type" : "type";
  ASSIGN_OR_RETURN(const std::string kind, rope.StringOr(type, "default"));
  if (kind != "dynamic" || !rope.Has("alpha")) return config;
  ASSIGN_OR_RETURN(const double alpha, rope.Float("alpha", {1, 1e6}));
  ASSIGN_OR_RETURN(const int head_dim, Number(config, {"head_dim"}, {4, 4096}));
  ASSIGN_OR_RETURN(double theta, config.FloatOr("rope_theta", 10000, {1, 1e9}));
  ASSIGN_OR_RETURN(theta, rope.FloatOr("rope_theta", theta, {1, 1e9}));
  theta *= std::pow(alpha, head_dim / (head_dim - 2.0));
  ASSIGN_OR_RETURN(
      const JsonFile changed,
      JsonFile::Parse(
          config.path(),
          absl::StrFormat(R"({"rope_parameters": {"rope_theta": %.17g}})",
                          theta)));
  return changed.WithFallback(config);
}

}  // namespace

absl::StatusOr<Family> LoadArcee(const JsonFile& config) {
  ASSIGN_OR_RETURN(const Biases biases, ReadBiases(config));
  ASSIGN_OR_RETURN(
      Family family,
      Relative(config, {.activation = "relu2", .epsilon = 1e-5, .gated = false},
               biases));
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Arcee", .both_ways = false}, family));
  return family;
}

absl::StatusOr<Family> LoadErnie45(const JsonFile& config) {
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "use_bias"));
  ASSIGN_OR_RETURN(Family family, Relative(config,
                                           {.kv_heads = 2,
                                            .head_dim = 128,
                                            .epsilon = 1e-5,
                                            .theta = 500000,
                                            .tied = true},
                                           {bias, bias, bias}));
  InterleaveRotated(family);
  RETURN_IF_ERROR(UseDecoderAs(config,
                               {.name = "Ernie4_5",
                                .token_layer = "",
                                .padding_id = 0,
                                .both_ways = false},
                               family));
  return family;
}

absl::StatusOr<Family> LoadHelium(const JsonFile& config) {
  ASSIGN_OR_RETURN(Biases biases, ReadBiases(config));
  biases.out = Bias::kNo;
  ASSIGN_OR_RETURN(
      Family family,
      Relative(
          config,
          {.kv_heads = 20, .head_dim = 128, .epsilon = 1e-8, .theta = 100000},
          biases));
  InterleaveRotated(family);
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "Helium", .padding_id = 3, .both_ways = false}, family));
  return family;
}

absl::StatusOr<Family> LoadHunyuan(const JsonFile& config) {
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "attention_bias"));
  ASSIGN_OR_RETURN(const JsonFile plain, WithoutAlpha(config));
  ASSIGN_OR_RETURN(Family family,
                   Relative(plain, {.epsilon = 1e-5}, {bias, bias, Bias::kNo}));
  AddHunyuanHeadNorms(family);
  RETURN_IF_ERROR(UseDecoderAs(config,
                               {.name = "HunYuanDenseV1",
                                .token_layer = "",
                                .padding_id = 0,
                                .both_ways = false},
                               family));
  return family;
}

absl::StatusOr<Family> LoadMinistral(const JsonFile& config) {
  ASSIGN_OR_RETURN(Family family, Relative(config, {.kv_heads = 8}, {}));
  RETURN_IF_ERROR(SetWindowOfAll(config, 4096, *family.spec.decoder));
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Ministral", .both_ways = false}, family));
  return family;
}

absl::StatusOr<Family> LoadMinistral3(const JsonFile& config) {
  constexpr char kRope[] = "rope_parameters";
  ASSIGN_OR_RETURN(
      Family family,
      Relative(config, {.kv_heads = 8, .head_dim = 128, .epsilon = 1e-5}, {}));
  StackSpec& decoder = *family.spec.decoder;
  RETURN_IF_ERROR(SetWindowOfAll(config, 0, decoder));
  ASSIGN_OR_RETURN(const JsonFile rope, config.Object(kRope));
  ASSIGN_OR_RETURN(const double beta,
                   rope.FloatOr("llama_4_scaling_beta", 0, {0, 1e3}));
  if (beta > 0) {
    // Queries beyond these positions are multiplied with a factor that grows
    // with them.
    ASSIGN_OR_RETURN(
        const int original,
        Number(rope, {"original_max_position_embeddings"}, kComputedPositions));
    int& positions = decoder.embedding.max_positions;
    positions = std::min(positions, original);
  }
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "Ministral3", .padding_id = 11, .both_ways = false},
      family));
  return family;
}

absl::StatusOr<Family> LoadNemotron(const JsonFile& config) {
  ASSIGN_OR_RETURN(const Biases biases, ReadBiases(config));
  ASSIGN_OR_RETURN(Family family, Relative(config,
                                           {.activation = "relu2",
                                            .norm = NormKind::kLayerNorm,
                                            .norm_bias = Bias::kYes,
                                            .epsilon_key = "norm_eps",
                                            .epsilon = 1e-5,
                                            .gated = false,
                                            .partial = true,
                                            .fraction = 0.5},
                                           biases));
  for (LayerSpec& layer : family.spec.decoder->layers) {
    layer.norm.unit_offset = true;
  }
  RETURN_IF_ERROR(
      UseDecoderAs(config, {.name = "Nemotron", .both_ways = false}, family));
  return family;
}

absl::StatusOr<Family> LoadSeedOss(const JsonFile& config) {
  Biases biases;
  ASSIGN_OR_RETURN(biases.qkv, BiasFlag(config, "attention_bias", Bias::kYes));
  ASSIGN_OR_RETURN(biases.out, BiasFlag(config, "attention_out_bias"));
  ASSIGN_OR_RETURN(biases.feed_forward, BiasFlag(config, "mlp_bias"));
  ASSIGN_OR_RETURN(Family family,
                   Relative(config, {.kv_heads = 8, .head_dim = 128}, biases));
  RETURN_IF_ERROR(UseDecoderAs(
      config, {.name = "SeedOss", .padding_id = 1, .both_ways = false},
      family));
  return family;
}

}  // namespace attend
