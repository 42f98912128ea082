#include "engine/families/gguf/gguf_config.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/checkpoint/gguf/tokens/gguf_end_tokens.h"
#include "engine/families/shared/config_fields.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// A tensor that the file must have.
absl::StatusOr<TensorView> Required(const GgufFile& file,
                                    absl::string_view tensor) {
  if (file.Has(tensor)) return file.Find(tensor);
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": no tensor ", tensor));
}

}  // namespace

std::string GgufConfig::Key(absl::string_view key) const {
  return absl::StrCat(architecture_, ".", key);
}

absl::Status GgufConfig::Copy(std::initializer_list<GgufKey> keys) {
  for (const GgufKey& key : keys) {
    const Json* value = metadata().Find(Key(key.key));
    if (value == nullptr && !key.required) continue;
    if (value == nullptr || !value->is_number()) {
      return metadata().Unexpected(Key(key.key), "a number");
    }
    config_[key.field] = *value;
  }
  return absl::OkStatus();
}

void GgufConfig::Set(const char* field, Json value) {
  config_[field] = std::move(value);
}

absl::StatusOr<int> GgufConfig::Number(const char* field,
                                       absl::string_view key) const {
  // Divisors and products of what families check later.
  constexpr int kMost = 1 << 24;
  const auto found = config_.find(field);
  if (found == config_.end() || !found->is_number_integer() ||
      found->get<double>() < 1 || found->get<double>() > kMost) {
    return metadata().Unexpected(
        Key(key), absl::StrCat("an integer in [1, ", kMost, "]"));
  }
  return found->get<int>();
}

absl::Status GgufConfig::CopyLlama(bool rotated_heads, GgufKey epsilon) {
  RETURN_IF_ERROR(Copy({{"context_length", "max_position_embeddings"},
                        {"embedding_length", "hidden_size"},
                        {"block_count", "num_hidden_layers"},
                        {"feed_forward_length", "intermediate_size"},
                        {"attention.head_count", "num_attention_heads"},
                        epsilon,
                        {"rope.freq_base", "rope_theta", false}}));
  RETURN_IF_ERROR(CopyHeads(rotated_heads));
  RETURN_IF_ERROR(CopyVocabulary());
  return CopyRotary();
}

absl::Status GgufConfig::CopyHeads(bool rotated_heads) {
  ASSIGN_OR_RETURN(const int heads,
                   Number("num_attention_heads", "attention.head_count"));
  ASSIGN_OR_RETURN(const int hidden, Number("hidden_size", "embedding_length"));
  Set("num_key_value_heads", heads);
  Set("head_dim", hidden / heads);
  RETURN_IF_ERROR(
      Copy({{"attention.head_count_kv", "num_key_value_heads", false}}));
  if (rotated_heads) {
    RETURN_IF_ERROR(Copy({{"rope.dimension_count", "head_dim", false}}));
  }
  RETURN_IF_ERROR(Copy({{"attention.key_length", "head_dim", false}}));
  ASSIGN_OR_RETURN(const int head_dim,
                   Number("head_dim", "attention.key_length"));
  RETURN_IF_ERROR(
      metadata()
          .IntOr(Key("attention.value_length"), head_dim, {head_dim, head_dim})
          .status());
  if (head_dim % 2 == 0) return absl::OkStatus();
  return metadata().Unexpected(
      Key("attention.key_length"),
      absl::StrCat("an even number of numbers in a head, not ", head_dim));
}

absl::Status GgufConfig::CopyRotary() {
  ASSIGN_OR_RETURN(const int head_dim,
                   Number("head_dim", "attention.key_length"));
  ASSIGN_OR_RETURN(
      const int64_t rotated,
      metadata().IntOr(Key("rope.dimension_count"), head_dim, {2, head_dim}));
  if (rotated != head_dim) {
    double fraction = static_cast<double>(rotated) / head_dim;
    if (head_dim * fraction < rotated) fraction = std::nextafter(fraction, 1);
    Set("partial_rotary_factor", fraction);
  }
  RETURN_IF_ERROR(Copy({{"rope.scaling.original_context_length",
                         "original_max_position_embeddings", false}}));
  // Two sets of divisors of the frequencies, for short and long texts, or one.
  const size_t count = static_cast<size_t>(rotated) / 2;
  Json scaling = {{"rope_type", "longrope"}};
  if (file_.Has("rope_factors_long.weight")) {
    ASSIGN_OR_RETURN(scaling["long_factor"],
                     Floats("rope_factors_long.weight", count));
    ASSIGN_OR_RETURN(scaling["short_factor"],
                     Floats("rope_factors_short.weight", count));
    Set("rope_scaling", std::move(scaling));
    return absl::OkStatus();
  }
  if (file_.Has("rope_freqs.weight")) {
    ASSIGN_OR_RETURN(scaling["long_factor"],
                     Floats("rope_freqs.weight", count));
    scaling["short_factor"] = scaling["long_factor"];
    scaling["attention_factor"] = 1;
    Set("original_max_position_embeddings", config_["max_position_embeddings"]);
    Set("rope_scaling", std::move(scaling));
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string type,
                   metadata().StringOr(Key("rope.scaling.type"), "none"));
  return CopyScaling(type);
}

absl::Status GgufConfig::CopyScaling(absl::string_view type) {
  if (type == "none") return absl::OkStatus();
  if (type != "linear" && type != "yarn") {
    return metadata().Unexpected(
        Key("rope.scaling.type"),
        "none, linear or yarn, or factors in tensors rope_factors_*");
  }
  for (const char* other :
       {"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor",
        "rope.scaling.yarn_ext_factor"}) {
    RETURN_IF_ERROR(metadata().ExpectNeutral(Key(other), 1));
  }
  const std::string factor = Key("rope.scaling.factor");
  ASSIGN_OR_RETURN(const double value, metadata().Float(factor, {1, 1e6}));
  Json scaling = {{"rope_type", std::string(type)}, {"factor", value}};
  for (const char* beta : {"beta_fast", "beta_slow"}) {
    const Json* number =
        metadata().Find(Key(absl::StrCat("rope.scaling.yarn_", beta)));
    if (number != nullptr) scaling[beta] = *number;
  }
  Set("rope_scaling", std::move(scaling));
  return absl::OkStatus();
}

absl::Status GgufConfig::CopyVocabulary() {
  ASSIGN_OR_RETURN(const TensorView table,
                   Required(file_, "token_embd.weight"));
  if (table.shape.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(table.place, " has shape ", ShapeText(table.shape),
                     ", expected a row for each token"));
  }
  Set("vocab_size", table.shape[0]);
  Set("tie_word_embeddings", !file_.Has("output.weight"));
  ASSIGN_OR_RETURN(const std::vector<int> ends,
                   GgufEndTokens(metadata(), table.shape[0]));
  if (!ends.empty()) Set("eos_token_id", ends);
  for (const auto& [key, field] :
       {std::pair("tokenizer.ggml.bos_token_id", "bos_token_id"),
        std::pair("tokenizer.ggml.padding_token_id", "pad_token_id")}) {
    if (!metadata().Has(key)) continue;
    ASSIGN_OR_RETURN(const int64_t id,
                     metadata().Int(key, {0, table.shape[0] - 1}));
    Set(field, id);
  }
  return absl::OkStatus();
}

absl::StatusOr<Json> GgufConfig::Floats(absl::string_view tensor,
                                        size_t count) const {
  ASSIGN_OR_RETURN(const TensorView view, Required(file_, tensor));
  if (view.type != StorageType::kF32 || view.bytes.size() != 4 * count) {
    return absl::InvalidArgumentError(absl::StrCat(
        view.place, " has type ", BlockOf(view.type).name, " and shape ",
        ShapeText(view.shape), ", expected ", count, " numbers of type F32"));
  }
  std::vector<float> values(count);
  ToFloats(view.type, view.bytes.data(), absl::MakeSpan(values));
  return Json(values);
}

JsonFile GgufConfig::Take() {
  return JsonFile::Of(file_.path() + ": as config.json", std::move(config_));
}

}  // namespace attend
