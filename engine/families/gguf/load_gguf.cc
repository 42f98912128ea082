#include "engine/families/gguf/load_gguf.h"

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/families/gguf/gguf_config.h"
#include "engine/families/gguf/gguf_names.h"
#include "engine/families/gguf/gpt_configs.h"
#include "engine/families/load_family.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

absl::Status Llama(GgufConfig& config) {
  // Mixtures of experts have this architecture, too.
  RETURN_IF_ERROR(
      config.metadata().ExpectNeutral(config.Key("expert_count"), 0));
  return config.CopyLlama(/*rotated_heads=*/true);
}

absl::Status Qwen(GgufConfig& config) {
  return config.CopyLlama(/*rotated_heads=*/false);
}

// Each fourth layer is without rotary positions, in llama.cpp as by default in
// config.json.
absl::Status SmolLm3(GgufConfig& config) {
  return config.CopyLlama(/*rotated_heads=*/true);
}

absl::Status Phi3(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"attention.sliding_window", "sliding_window", false}}));
  return config.CopyLlama(/*rotated_heads=*/false);
}

absl::Status Gemma1(GgufConfig& config) {
  return config.CopyLlama(/*rotated_heads=*/false);
}

// The file does not say by what scores are scaled. It is the size of a head,
// but in the largest model of a generation, which is known by its layers.
absl::Status Gemma(GgufConfig& config, int largest) {
  RETURN_IF_ERROR(config.Copy(
      {{"attention.sliding_window", "sliding_window", false},
       {"attn_logit_softcapping", "attn_logit_softcapping", false},
       {"final_logit_softcapping", "final_logit_softcapping", false}}));
  RETURN_IF_ERROR(config.CopyLlama(/*rotated_heads=*/false));
  ASSIGN_OR_RETURN(const int layers,
                   config.Number("num_hidden_layers", "block_count"));
  ASSIGN_OR_RETURN(const int hidden,
                   config.Number("hidden_size", "embedding_length"));
  ASSIGN_OR_RETURN(const int heads, config.Number("num_attention_heads",
                                                  "attention.head_count"));
  ASSIGN_OR_RETURN(const int head_dim,
                   config.Number("head_dim", "attention.key_length"));
  config.Set("query_pre_attn_scalar",
             layers == largest ? hidden / heads : head_dim);
  return absl::OkStatus();
}

absl::Status Gemma2(GgufConfig& config) { return Gemma(config, 46); }
absl::Status Gemma3(GgufConfig& config) {
  RETURN_IF_ERROR(config.Copy(
      {{"attention.sliding_window_pattern", "sliding_window_pattern", false},
       {"rope.freq_base_swa", "rope_local_base_freq", false}}));
  return Gemma(config, 62);
}

// A key that may be absent has the number that `field` got from `key`.
absl::Status ExpectSame(const GgufConfig& config, absl::string_view other,
                        const char* field, absl::string_view key) {
  ASSIGN_OR_RETURN(const int value, config.Number(field, key));
  return config.metadata()
      .IntOr(config.Key(other), value, {value, value})
      .status();
}

absl::Status Bert(GgufConfig& config) {
  const std::string causal = config.Key("attention.causal");
  ASSIGN_OR_RETURN(const bool is_causal,
                   config.metadata().BoolOr(causal, true));
  if (is_causal) return config.metadata().Unexpected(causal, "false");
  RETURN_IF_ERROR(
      config.Copy({{"context_length", "max_position_embeddings"},
                   {"embedding_length", "hidden_size"},
                   {"block_count", "num_hidden_layers"},
                   {"feed_forward_length", "intermediate_size"},
                   {"attention.head_count", "num_attention_heads"},
                   {"attention.layer_norm_epsilon", "layer_norm_eps"}}));
  RETURN_IF_ERROR(ExpectSame(config, "attention.head_count_kv",
                             "num_attention_heads", "attention.head_count"));
  const auto types = config.file().Find("token_types.weight");
  config.Set("type_vocab_size",
             types.ok() && !types->shape.empty() ? types->shape[0] : 1);
  return config.CopyVocabulary();
}

absl::Status NomicBert(GgufConfig& config) {
  const std::string scaling = config.Key("rope.scaling.type");
  ASSIGN_OR_RETURN(const std::string type,
                   config.metadata().StringOr(scaling, "none"));
  if (type != "none") return config.metadata().Unexpected(scaling, "none");
  RETURN_IF_ERROR(config.Copy({{"rope.freq_base", "rope_theta"}}));
  return Bert(config);
}

absl::Status T5(GgufConfig& config) {
  RETURN_IF_ERROR(config.Copy(
      {{"embedding_length", "d_model"},
       {"block_count", "num_layers"},
       {"decoder_block_count", "num_decoder_layers", false},
       {"feed_forward_length", "d_ff"},
       {"attention.head_count", "num_heads"},
       {"attention.key_length", "d_kv"},
       {"attention.layer_norm_rms_epsilon", "layer_norm_epsilon"},
       {"attention.relative_buckets_count", "relative_attention_num_buckets"},
       {"decoder_start_token_id", "decoder_start_token_id"}}));
  RETURN_IF_ERROR(ExpectSame(config, "attention.value_length", "d_kv",
                             "attention.key_length"));
  const bool gated = config.file().Has("enc.blk.0.ffn_gate.weight");
  config.Set("feed_forward_proj", gated ? "gated-gelu" : "relu");
  // The first T5 ties the logits to the tokens, which scales them. Its files
  // may have the same numbers twice. Later ones have gates.
  if (!gated) config.Set("scale_decoder_outputs", true);
  return config.CopyVocabulary();
}

NameTable Interleaved(const GgufFile& file, const TransformerSpec& spec) {
  return LlamaGgufNames(file, spec, /*interleaved=*/true);
}
NameTable InOrder(const GgufFile& file, const TransformerSpec& spec) {
  return LlamaGgufNames(file, spec, /*interleaved=*/false);
}

struct GgufArchitecture {
  absl::string_view name;
  const char* model_type;
  absl::Status (*configure)(GgufConfig& config);
  NameTable (*names)(const GgufFile& file, const TransformerSpec& spec);
};

// Llama's has Mistral's models and SmolLM's, too; BERT's has DistilBERT's, and
// T5's has mT5's.
constexpr GgufArchitecture kArchitectures[] = {
    {"bert", "bert", Bert, BertGgufNames},
    {"bloom", "bloom", ConfigureBloom, GptGgufNames},
    {"gemma", "gemma", Gemma1, InOrder},
    {"gemma2", "gemma2", Gemma2, InOrder},
    {"gemma3", "gemma3_text", Gemma3, InOrder},
    {"gpt2", "gpt2", ConfigureGpt2, GptGgufNames},
    {"gptneox", "gpt_neox", ConfigureGptNeoX, GptGgufNames},
    {"llama", "llama", Llama, Interleaved},
    {"mpt", "mpt", ConfigureMpt, GptGgufNames},
    {"nomic-bert", "nomic_bert", NomicBert, BertGgufNames},
    {"phi3", "phi3", Phi3, InOrder},
    {"qwen2", "qwen2", Qwen, InOrder},
    {"qwen3", "qwen3", Qwen, InOrder},
    {"smollm3", "smollm3", SmolLm3, Interleaved},
    {"starcoder2", "starcoder2", ConfigureStarcoder2, GptGgufNames},
    {"t5", "t5", T5, T5GgufNames},
};

absl::StatusOr<const GgufArchitecture*> Find(const JsonFile& metadata) {
  constexpr char kKey[] = "general.architecture";
  ASSIGN_OR_RETURN(const std::string name, metadata.String(kKey));
  for (const GgufArchitecture& architecture : kArchitectures) {
    if (architecture.name == name) return &architecture;
  }
  return metadata.Unexpected(
      kKey, absl::StrCat(
                "one of ",
                absl::StrJoin(kArchitectures, ", ",
                              [](std::string* out, const GgufArchitecture& a) {
                                absl::StrAppend(out, a.name);
                              })));
}

// How an encoder's vectors become one, by their number in a file. 0 is unsaid.
constexpr Pooling kPoolings[] = {Pooling::kMean, Pooling::kMean, Pooling::kCls,
                                 Pooling::kLast};

// Sets what config.json does not say of an encoder alone.
absl::Status CompleteEncoder(const GgufConfig& config, TransformerSpec& spec) {
  if (!spec.encoder || spec.decoder) return absl::OkStatus();
  // DistilBERT.
  if (!config.file().Has("token_types.weight")) {
    spec.encoder->embedding.token_types = 0;
  }
  ASSIGN_OR_RETURN(const int64_t pooling,
                   config.metadata().IntOr(config.Key("pooling_type"), 0,
                                           {0, std::size(kPoolings) - 1}));
  spec.embed.poolings = {kPoolings[pooling]};
  return absl::OkStatus();
}

// Refuses a file whose heads are rotated in another part than the family's.
absl::Status CheckRotated(const GgufConfig& config,
                          const TransformerSpec& spec) {
  if (!spec.decoder) return absl::OkStatus();
  const auto& rotary = spec.decoder->layers.front().self_attention.rotary;
  if (!rotary) return absl::OkStatus();
  const int dims = rotary->dims();
  return config.metadata()
      .IntOr(config.Key("rope.dimension_count"), dims, {dims, dims})
      .status();
}

// llama.cpp stores gamma, where the checkpoint had gamma - 1.
void TakeUnitOffset(TransformerSpec& spec) {
  if (!spec.decoder) return;
  for (LayerSpec& layer : spec.decoder->layers) {
    layer.norm.unit_offset = false;
    auto& head_norm = layer.self_attention.head_norm;
    if (head_norm) head_norm->unit_offset = false;
  }
}

}  // namespace

absl::StatusOr<GgufFamily> LoadGguf(const GgufFile& file) {
  ASSIGN_OR_RETURN(const GgufArchitecture* architecture, Find(file.metadata()));
  GgufConfig builder(file, architecture->name);
  builder.Set("model_type", architecture->model_type);
  RETURN_IF_ERROR(architecture->configure(builder));
  JsonFile config = builder.Take();
  ASSIGN_OR_RETURN(Family family, LoadFamily(config));
  TakeUnitOffset(family.spec);
  RETURN_IF_ERROR(CompleteEncoder(builder, family.spec));
  RETURN_IF_ERROR(CheckRotated(builder, family.spec));
  family.names = architecture->names(file, family.spec);
  return GgufFamily{std::move(config), std::move(family)};
}

}  // namespace attend
