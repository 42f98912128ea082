#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/encoding.h"

namespace attend {

// What the files beside a vocabulary say of the tokenizer, by the rules of
// transformers 5.23: tokenizer_config.json, special_tokens_map.json where that
// says nothing of added tokens, and config.json's tokenizer_class or model_type
// where the first names no class. (add_bos_token and add_eos_token change
// nothing in the classes that there are here.)
struct HfConfig {
  struct Token {
    std::string content;
    bool single_word = false;
    bool lstrip = false;
    bool rstrip = false;
    bool normalized = false;
    bool special = true;
  };

  std::string tokenizer_class;  // without "Fast", as "NllbTokenizer"
  std::vector<Token> added;     // in the order of their ids
  std::vector<Token> special;   // those with a role, and additional ones
  std::string bos, eos, unk, sep, pad, cls, mask;  // "" where not said
  int max_length = 0;                              // 0: not said
  bool clean_up_spaces = false;
  bool split_special_tokens = false;
  TruncationSide truncation_side = TruncationSide::kRight;
  std::string source_language, target_language;  // "" where not said
  bool legacy_behaviour = false;                 // NLLB: language at the end
  std::string language_codes = "m2m100";         // M2M100: which set
  int extra_ids = 100;                           // T5: <extra_id_0> to ..._99
  int offset = 103;              // Pegasus: ids before the first piece's
  bool separate_vocabs = false;  // Marian: target_vocab.json is there, too
  bool sp_options = false;       // sp_model_kwargs says something
};

// Defaults where files are missing. INVALID_ARGUMENT names the file and the
// field whose value is not what it should be.
absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory);

// A list in the json of tokenizer.json's added_tokens.
std::string ToJson(const std::vector<HfConfig::Token>& tokens);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_
