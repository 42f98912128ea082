#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/encoding.h"

namespace attend {

// The settings of a tokenizer, from the files beside its vocabulary, by the
// rules of transformers 5.23:
// * tokenizer_config.json;
// * special_tokens_map.json, if tokenizer_config.json has no added tokens;
// * tokenizer_class or model_type of config.json, if tokenizer_config.json
//   names no class.
// (add_bos_token and add_eos_token change nothing in the classes that are
// supported.)
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
  std::vector<Token> special;   // tokens with a role, and additional ones
  std::string bos, eos, unk, sep, pad, cls, mask;  // tokens by role; "": none
  int max_length = 0;                              // in tokens; 0: no limit
  bool clean_up_spaces = false;
  bool split_special_tokens = false;
  TruncationSide truncation_side = TruncationSide::kRight;
  // The defaults of a tokenizer with languages, or Marian's only languages; "":
  // none.
  std::string source_language, target_language;
  bool legacy_behaviour = false;          // NLLB: language at the end
  std::string language_codes = "m2m100";  // M2M100: which set
  int extra_ids = 100;                    // T5: <extra_id_0> to ..._99
  int offset = 103;              // Pegasus: ids before the first piece's
  bool separate_vocabs = false;  // Marian: there is a target_vocab.json
  bool sp_options = false;       // sp_model_kwargs is not empty
};

// Reads the files that are there; fields without a file keep their defaults.
// INVALID_ARGUMENT names the file and the field whose value is wrong.
absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory);

// The tokens as a JSON list like added_tokens of tokenizer.json.
std::string ToJson(const std::vector<HfConfig::Token>& tokens);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_
