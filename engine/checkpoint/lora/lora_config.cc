#include "engine/checkpoint/lora/lora_config.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr FloatRange kAlpha = {-1e6, 1e6};
constexpr IntRange kTokens = {0, (1 << 22) - 1};

// Returns true if a key of alpha_pattern, which peft takes for a regular
// expression, is the name of a module or its end.
bool IsPlainKey(absl::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.';
  });
}

absl::Status ReadAlphas(const JsonFile& config, LoraConfig& lora) {
  constexpr char kKey[] = "alpha_pattern";
  const nlohmann::json* patterns = config.Find(kKey);
  if (patterns == nullptr || patterns->is_null()) return absl::OkStatus();
  if (!patterns->is_object()) return config.Unexpected(kKey, "an object");
  for (const auto& [key, value] : patterns->items()) {
    if (!IsPlainKey(key) || !value.is_number()) {
      return config.Unexpected(kKey, "names of modules with numbers");
    }
    lora.alphas[key] = value.get<double>();
  }
  return absl::OkStatus();
}

absl::Status ReadTrainedTokens(const JsonFile& config, LoraConfig& lora) {
  constexpr char kKey[] = "trainable_token_indices";
  const nlohmann::json* value = config.Find(kKey);
  if (value == nullptr || value->is_null()) return absl::OkStatus();
  if (!value->is_object()) {
    ASSIGN_OR_RETURN(lora.trained_tokens[""], config.Ints(kKey, kTokens));
    if (lora.trained_tokens[""].empty()) lora.trained_tokens.clear();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const JsonFile modules, config.Object(kKey));
  for (const auto& [module, ids] : value->items()) {
    ASSIGN_OR_RETURN(lora.trained_tokens[module],
                     modules.Ints(module, kTokens));
  }
  return absl::OkStatus();
}

// Some ways to initialise an adapter change the model's weights as well, which
// are then not those of its file.
absl::Status CheckInitialisation(const JsonFile& config) {
  constexpr char kKey[] = "init_lora_weights";
  const nlohmann::json* value = config.Find(kKey);
  if (value == nullptr || value->is_null() || value->is_boolean()) {
    return absl::OkStatus();
  }
  for (const char* known : {"gaussian", "eva", "orthogonal"}) {
    if (*value == known) return absl::OkStatus();
  }
  return config.Unexpected(kKey, "true, false, gaussian, eva or orthogonal");
}

}  // namespace

double LoraConfig::Scale(absl::string_view module, int rank) const {
  double numerator = alpha;
  for (const auto& [key, value] : alphas) {
    if (module == key || absl::EndsWith(module, absl::StrCat(".", key))) {
      numerator = value;
    }
  }
  return numerator / (root_of_rank ? std::sqrt(rank) : rank);
}

const std::vector<int>* LoraConfig::TrainedTokens(
    absl::string_view module) const {
  for (const auto& [name, ids] : trained_tokens) {
    if (name.empty() || module == name ||
        absl::EndsWith(module, absl::StrCat(".", name))) {
      return &ids;
    }
  }
  return nullptr;
}

absl::StatusOr<LoraConfig> ReadLoraConfig(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string type, config.String("peft_type"));
  if (type != "LORA") return config.Unexpected("peft_type", "LORA");
  ASSIGN_OR_RETURN(const std::string bias, config.StringOr("bias", "none"));
  if (bias != "none") return config.Unexpected("bias", "none");
  for (const char* key :
       {"use_dora", "use_qalora", "lora_bias", "target_parameters",
        "alora_invocation_tokens", "layer_replication", "arrow_config",
        "use_bdlora", "monteclora_config", "velora_config", "kasa_config",
        "lora_ga_config"}) {
    RETURN_IF_ERROR(config.ExpectNeutral(key, 0));
  }
  RETURN_IF_ERROR(CheckInitialisation(config));
  LoraConfig lora;
  ASSIGN_OR_RETURN(lora.alpha, config.FloatOr("lora_alpha", 8, kAlpha));
  ASSIGN_OR_RETURN(lora.root_of_rank, config.BoolOr("use_rslora", false));
  ASSIGN_OR_RETURN(lora.base, config.StringOr("base_model_name_or_path", ""));
  RETURN_IF_ERROR(ReadAlphas(config, lora));
  RETURN_IF_ERROR(ReadTrainedTokens(config, lora));
  return lora;
}

}  // namespace attend
