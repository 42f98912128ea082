// Falcon: Almazrouei et al. 2023. In config.json, 7B shares one key and value
// among all heads; 40B, 180B and Falcon 2 ("new_decoder_architecture") among
// groups of heads; older models have a key and a value for each.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/families/load_family.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/decoder.h"
#include "engine/families/shared/decoder_heads.h"
#include "engine/families/shared/rotary_config.h"
#include "engine/families/shared/tensor_names.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Norms of the branches of a layer.
enum class Norms { kSequential, kParallelOne, kParallelTwo };

absl::StatusOr<Norms> ReadNorms(const JsonFile& config) {
  constexpr char kCount[] = "num_ln_in_parallel_attn";
  ASSIGN_OR_RETURN(const bool grouped,
                   config.BoolOr("new_decoder_architecture", false));
  ASSIGN_OR_RETURN(const bool parallel, config.BoolOr("parallel_attn", true));
  if (!parallel && grouped) return config.Unexpected("parallel_attn", "true");
  if (!parallel) return Norms::kSequential;
  // transformers names two norms where it reads one.
  const int most = grouped ? 2 : 1;
  ASSIGN_OR_RETURN(const int count, NumberOr(config, kCount, most, {1, most}));
  return count == 2 ? Norms::kParallelTwo : Norms::kParallelOne;
}

absl::StatusOr<int> KvHeads(const JsonFile& config, int heads) {
  constexpr char kKey[] = "num_kv_heads";
  ASSIGN_OR_RETURN(const bool grouped,
                   config.BoolOr("new_decoder_architecture", false));
  ASSIGN_OR_RETURN(const bool one, config.BoolOr("multi_query", true));
  if (!grouped && one) return 1;
  ASSIGN_OR_RETURN(const int kv_heads, NumberOr(config, kKey, heads, kHeads));
  if (grouped ? heads % kv_heads == 0 : heads == kv_heads) return kv_heads;
  return config.Unexpected(kKey, grouped ? "a divisor of num_attention_heads"
                                         : "num_attention_heads");
}

absl::StatusOr<TransformerSpec> FalconSpec(const JsonFile& config) {
  const DecoderKeys keys = {
      .hidden = config.Has("n_embed") ? "n_embed" : "hidden_size",
      .max_positions = 2048};
  ASSIGN_OR_RETURN(DecoderSizes sizes, ReadDecoderSizes(config, keys));
  LayerSpec layer;
  ASSIGN_OR_RETURN(layer.norm.epsilon,
                   EpsilonOr(config, "layer_norm_epsilon", 1e-5f));
  layer.norm_place = NormPlace::kPre;
  ASSIGN_OR_RETURN(const Norms norms, ReadNorms(config));
  layer.parallel = norms != Norms::kSequential;
  AttentionSpec& attention = layer.self_attention;
  ASSIGN_OR_RETURN(attention, DividedHeads(config, "num_attention_heads",
                                           sizes.heads, sizes.hidden));
  ASSIGN_OR_RETURN(attention.kv_heads, KvHeads(config, sizes.heads));
  ASSIGN_OR_RETURN(
      attention.rotary,
      ReadRotaryOf(config, {.head_dim = attention.head_dim,
                            .max_positions = sizes.max_positions}));
  ASSIGN_OR_RETURN(
      sizes.max_positions,
      RotaryPositions(config, *attention.rotary, sizes.max_positions));
  ASSIGN_OR_RETURN(
      layer.feed_forward.width,
      NumberOr(config, "ffn_hidden_size", 4 * sizes.hidden, kWidth));
  ASSIGN_OR_RETURN(layer.feed_forward.activation,
                   ActivationOr(config, "activation", "gelu"));
  return DecoderOf(sizes, layer);
}

absl::Status AddNorms(const JsonFile& config,
                      const std::vector<std::string>& layer, NameTable& names) {
  static constexpr SlotName kSequential[] = {
      {"self.norm", "input_layernorm"},
      {"ffn.norm", "post_attention_layernorm"}};
  static constexpr SlotName kOne[] = {{"self.norm", "input_layernorm"},
                                      {"ffn.norm", "input_layernorm"}};
  static constexpr SlotName kTwo[] = {{"self.norm", "ln_attn"},
                                      {"ffn.norm", "ln_mlp"}};
  ASSIGN_OR_RETURN(const Norms norms, ReadNorms(config));
  const absl::Span<const SlotName> slots =
      norms == Norms::kSequential    ? absl::MakeConstSpan(kSequential)
      : norms == Norms::kParallelOne ? absl::MakeConstSpan(kOne)
                                     : absl::MakeConstSpan(kTwo);
  AddList("decoder.{}.", layer, slots, Bias::kYes, names);
  return absl::OkStatus();
}

absl::Status AddNames(const JsonFile& config, const AttentionSpec& attention,
                      NameTable& names) {
  const std::vector<std::string> model = {"transformer.", ""};
  const std::vector<std::string> layer = WithPrefixes(model, {"h.{}."});
  ASSIGN_OR_RETURN(const bool tied, config.BoolOr("tie_word_embeddings", true));
  AddInAndOut(tied, WithPrefixes(model, {"word_embeddings.weight"}),
              {"lm_head.weight"}, names);
  AddWeights("decoder.norm", WithPrefixes(model, {"ln_f"}), Bias::kYes, names);
  RETURN_IF_ERROR(AddNorms(config, layer, names));
  ASSIGN_OR_RETURN(const Bias bias, BiasFlag(config, "bias"));
  static constexpr SlotName kMatrices[] = {{"self.out", "self_attention.dense"},
                                           {"ffn.in", "mlp.dense_h_to_4h"},
                                           {"ffn.out", "mlp.dense_4h_to_h"}};
  AddList("decoder.{}.", layer, kMatrices, bias, names);
  AddHeadSlices("decoder.{}.", attention,
                WithPrefixes(layer, {"self_attention.query_key_value"}), bias,
                names);
  AddUnused(layer, {"self_attention.rotary_emb.inv_freq"}, names);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Family> LoadFalcon(const JsonFile& config) {
  RETURN_IF_ERROR(CheckDecoderAlone(config));
  // transformers rounds these biases to bf16, whatever it computes in.
  RETURN_IF_ERROR(ExpectFlags(config, {"alibi"}, false));
  Family family;
  ASSIGN_OR_RETURN(family.spec, FalconSpec(config));
  RETURN_IF_ERROR(AddNames(config,
                           family.spec.decoder->layers.front().self_attention,
                           family.names));
  RETURN_IF_ERROR(UseDecoderAs(
      config,
      {.name = "Falcon", .token_layer = "classifier", .both_ways = false},
      family));
  return family;
}

}  // namespace attend
