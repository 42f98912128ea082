#ifndef ATTEND_ENGINE_CHECKPOINT_LORA_LORA_CONFIG_H_
#define ATTEND_ENGINE_CHECKPOINT_LORA_LORA_CONFIG_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/json/json_file.h"

namespace attend {

inline constexpr char kLoraConfigFile[] = "adapter_config.json";

// The settings in adapter_config.json: how a LoRA adapter (Hu et al. 2021)
// changes the weights. Which weights, the tensors of the adapter say.
struct LoraConfig {
  double alpha = 8;
  std::map<std::string, double> alphas = {};  // alpha_pattern: by module
  bool root_of_rank = false;                  // use_rslora
  std::string base = {};                      // base_model_name_or_path

  // trainable_token_indices: ids by the name of a module or its end; "": those
  // of all modules.
  std::map<std::string, std::vector<int>> trained_tokens = {};

  // The ids of a module whose tokens were trained; null: there are none.
  const std::vector<int>* TrainedTokens(absl::string_view module) const;

  // By what the product of a module's two matrices is multiplied.
  double Scale(absl::string_view module, int rank) const;
};

// INVALID_ARGUMENT names the field, its value and what is expected, for other
// adapters than LoRA, and where peft would compute something else.
absl::StatusOr<LoraConfig> ReadLoraConfig(const JsonFile& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LORA_LORA_CONFIG_H_
