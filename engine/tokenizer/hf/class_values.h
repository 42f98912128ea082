#ifndef ATTEND_ENGINE_TOKENIZER_HF_CLASS_VALUES_H_
#define ATTEND_ENGINE_TOKENIZER_HF_CLASS_VALUES_H_

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// The token of a role ("cls"); "" if there is none.
const std::string& RoleText(const HfConfig& config, absl::string_view role);

// The values of "$name" and "if" in a row of FindClassRow(), by the settings of
// `config`, which must outlive them.
class ClassValues {
 public:
  // `charsmap`: the table of the file's normalizer, base64; or null.
  ClassValues(const nlohmann::json& row, const HfConfig& config,
              nlohmann::json charsmap);

  // Null if there is no value of that name.
  nlohmann::json Value(const std::string& name) const;
  // `json` with its values; null if its "if" is false.
  nlohmann::json Fill(const nlohmann::json& json) const;

 private:
  const HfConfig& config_;
  std::map<std::string, nlohmann::json, std::less<>> values_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_HF_CLASS_VALUES_H_
