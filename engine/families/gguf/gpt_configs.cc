#include "engine/families/gguf/gpt_configs.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Expects the feed-forward networks to be four times as wide as `field`, a
// width that config.json does not say for these families.
absl::Status ExpectFourfoldWidth(const GgufConfig& config, const char* field) {
  ASSIGN_OR_RETURN(const int hidden, config.Number(field, "embedding_length"));
  const int64_t width = int64_t{4} * hidden;
  return config.metadata()
      .Int(config.Key("feed_forward_length"), {width, width})
      .status();
}

}  // namespace

absl::Status ConfigureGpt2(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"context_length", "n_positions"},
                   {"embedding_length", "n_embd"},
                   {"block_count", "n_layer"},
                   {"feed_forward_length", "n_inner"},
                   {"attention.head_count", "n_head"},
                   {"attention.layer_norm_epsilon", "layer_norm_epsilon"}}));
  return config.CopyVocabulary();
}

absl::Status ConfigureGptNeoX(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"context_length", "max_position_embeddings"},
                   {"embedding_length", "hidden_size"},
                   {"block_count", "num_hidden_layers"},
                   {"feed_forward_length", "intermediate_size"},
                   {"attention.head_count", "num_attention_heads"},
                   {"attention.layer_norm_epsilon", "layer_norm_eps"},
                   {"rope.freq_base", "rotary_emb_base", false}}));
  ASSIGN_OR_RETURN(const bool parallel,
                   config.metadata().Bool(config.Key("use_parallel_residual")));
  config.Set("use_parallel_residual", parallel);
  ASSIGN_OR_RETURN(const int hidden,
                   config.Number("hidden_size", "embedding_length"));
  ASSIGN_OR_RETURN(const int heads, config.Number("num_attention_heads",
                                                  "attention.head_count"));
  config.Set("head_dim", hidden / heads);
  // Without rope.dimension_count; CopyRotary() sets partial_rotary_factor.
  config.Set("rotary_pct", 1);
  RETURN_IF_ERROR(config.CopyRotary());
  return config.CopyVocabulary();
}

absl::Status ConfigureBloom(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"context_length", "seq_length"},
                   {"embedding_length", "hidden_size"},
                   {"block_count", "n_layer"},
                   {"attention.head_count", "n_head"},
                   {"attention.layer_norm_epsilon", "layer_norm_epsilon"}}));
  RETURN_IF_ERROR(ExpectFourfoldWidth(config, "hidden_size"));
  return config.CopyVocabulary();
}

absl::Status ConfigureMpt(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"context_length", "max_seq_len"},
                   {"embedding_length", "d_model"},
                   {"block_count", "n_layers"},
                   {"attention.head_count", "n_heads"},
                   {"attention.layer_norm_epsilon", "layer_norm_epsilon"}}));
  RETURN_IF_ERROR(ExpectFourfoldWidth(config, "d_model"));
  nlohmann::json attention = nlohmann::json::object();
  for (const auto& [key, field] :
       {std::pair("attention.clamp_kqv", "clip_qkv"),
        std::pair("attention.max_alibi_bias", "alibi_bias_max")}) {
    const nlohmann::json* value = config.metadata().Find(config.Key(key));
    if (value != nullptr) attention[field] = *value;
  }
  // A bias of 0 says that the model has learned positions.
  const std::string bias = config.Key("attention.max_alibi_bias");
  RETURN_IF_ERROR(config.metadata().FloatOr(bias, 8, {8, 8}).status());
  config.Set("attn_config", std::move(attention));
  return config.CopyVocabulary();
}

absl::Status ConfigureStarcoder2(GgufConfig& config) {
  RETURN_IF_ERROR(
      config.Copy({{"attention.sliding_window", "sliding_window", false}}));
  return config.CopyLlama(/*rotated_heads=*/false,
                          {"attention.layer_norm_epsilon", "norm_epsilon"});
}

}  // namespace attend
