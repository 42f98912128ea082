#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKENS_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKENS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// The merged files of a tokenizer's settings.
struct HfSettings {
  using Named = std::vector<std::pair<std::string, nlohmann::json>>;

  nlohmann::json values;
  // Special tokens under names that are none of the seven roles, in the order
  // of the files: {"image_token", "<image>"}. Those of the second list come
  // after those of the first. A name stays where it comes first, with its last
  // value.
  Named own, own_texts;
};

// Keys of the files.
inline constexpr char kExtraTokens[] = "extra_special_tokens";
inline constexpr char kAdditionalTokens[] = "additional_special_tokens";
inline constexpr const char* kRoleTokens[] = {
    "bos_token", "eos_token", "unk_token", "sep_token",
    "pad_token", "cls_token", "mask_token"};

// Reads tokenizer_config.json of a directory, and its added_tokens_decoder into
// config.added. If there is none, merges special_tokens_map.json into the
// settings and reads added_tokens.json.
absl::StatusOr<HfSettings> ReadSettings(const std::string& directory,
                                        HfConfig& config);

// Reads the tokens with a role and the additional ones into config.special, in
// the order in which transformers adds them. config.tokenizer_class has the
// defaults of what config.settings, which are settings.values, do not name.
absl::Status ReadSpecialTokens(const HfSettings& settings, HfConfig& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_HF_TOKENS_H_
