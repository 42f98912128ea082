#include "engine/families/gguf/load_gguf.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/families/gguf/gguf_config.h"
#include "engine/families/gguf/gguf_names.h"
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

absl::Status Phi3(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"attention.sliding_window", "sliding_window", false}}));
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

absl::Status Gpt2(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"context_length", "n_positions"},
                   {"embedding_length", "n_embd"},
                   {"block_count", "n_layer"},
                   {"feed_forward_length", "n_inner"},
                   {"attention.head_count", "n_head"},
                   {"attention.layer_norm_epsilon", "layer_norm_epsilon"}}));
  return config.CopyVocabulary();
}

NameTable Interleaved(const GgufFile& file, const TransformerSpec& spec) {
  return LlamaGgufNames(file, spec, /*interleaved=*/true);
}
NameTable InOrder(const GgufFile& file, const TransformerSpec& spec) {
  return LlamaGgufNames(file, spec, /*interleaved=*/false);
}
NameTable Gpt2Names(const GgufFile& file, const TransformerSpec&) {
  return Gpt2GgufNames(file);
}

struct GgufArchitecture {
  absl::string_view name;
  const char* model_type;
  absl::Status (*configure)(GgufConfig& config);
  NameTable (*names)(const GgufFile& file, const TransformerSpec& spec);
};

// Llama's has Mistral's models and SmolLM's, too.
constexpr GgufArchitecture kArchitectures[] = {
    {"gemma2", "gemma2", Gemma2, InOrder},
    {"gemma3", "gemma3_text", Gemma3, InOrder},
    {"gpt2", "gpt2", Gpt2, Gpt2Names},
    {"llama", "llama", Llama, Interleaved},
    {"phi3", "phi3", Phi3, InOrder},
    {"qwen2", "qwen2", Qwen, InOrder},
    {"qwen3", "qwen3", Qwen, InOrder},
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
  family.names = architecture->names(file, family.spec);
  return GgufFamily{std::move(config), std::move(family)};
}

}  // namespace attend
