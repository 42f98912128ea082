#ifndef ATTEND_ENGINE_TOKENIZER_TOKENIZER_CONFIG_H_
#define ATTEND_ENGINE_TOKENIZER_TOKENIZER_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attend {

// What tokenizer_config.json says, with MarianTokenizer's defaults.
struct TokenizerConfig {
  std::string eos = "</s>";
  std::string unk = "<unk>";
  std::string pad = "<pad>";
  std::vector<std::string> more_special;
  bool separate_vocabs = false;
  // Special tokens written out in a text are text.
  bool split_special_tokens = false;
  bool clean_up_spaces = false;
  int max_length = 0;  // tokens of an encoding; 0: not said
};

// The defaults if there is no such file. INVALID_ARGUMENT names the file and
// the field if a value is not what it should be, or not supported.
absl::StatusOr<TokenizerConfig> LoadTokenizerConfig(const std::string& path);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TOKENIZER_CONFIG_H_
