#ifndef ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_
#define ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/json/json_file.h"
#include "engine/tokenizer/text/encoding.h"

namespace attend {

// Settings of a tokenizer that other programs than transformers give it.
struct TokenizerSettings {
  bool lower_case = false;  // of texts, before anything else
  // Tokens of the vocabulary that are found in texts before these are cut.
  std::vector<std::string> prefixes = {};
};

// The settings of a tokenizer, from the files beside its vocabulary, by the
// rules of transformers 5.23:
// * tokenizer_config.json;
// * special_tokens_map.json and added_tokens.json, if tokenizer_config.json has
//   no added tokens; the former then wins over tokenizer_config.json;
// * the class (see AutoClass()) for what the files do not say.
// add_bos_token and add_eos_token change nothing where there is a
// tokenizer.json.
struct HfConfig {
  TokenizerSettings extra = {};  // not in the files
  struct Token {
    int id = -1;  // as the files say; -1: they do not
    std::string content;
    bool single_word = false;
    bool lstrip = false;
    bool rstrip = false;
    bool normalized = false;
    bool special = true;
    bool named = false;  // has a role that the files name, not the class
  };

  std::string tokenizer_class;  // without "Fast", as "NllbTokenizer"
  bool built_by_class = false;  // the class has changed the tokenizer.json
  // The tokenizer is made of other files than a tokenizer.json.
  bool of_parts = false;
  // Where such files name the flag: encodings begin with bos, end with eos.
  std::optional<bool> adds_bos, adds_eos;
  // The merged files, for settings that only one class has; absent if the
  // tokenizer is of no such files.
  std::optional<JsonFile> settings;
  std::vector<Token> added;    // in the order of their ids
  bool names_added = false;    // tokenizer_config.json has added tokens
  std::vector<Token> special;  // tokens with a role, and additional ones
  // The first tokens of `special`, those with a role.
  int roles = 0;
  std::string bos, eos, unk, sep, pad, cls, mask;  // tokens by role; "": none
  int max_length = 0;                              // in tokens; 0: no limit
  bool clean_up_spaces = false;
  bool clean_up_bpe = false;  // also for BPE models
  bool split_special_tokens = false;
  // Absent: tokenizer.json decides, else kRight.
  std::optional<TruncationSide> cut_side;
  TruncationSide truncation_side = TruncationSide::kRight;
  bool token_types = true;  // the model gets token types
  // The defaults of a tokenizer with languages, or Marian's only languages; "":
  // none.
  std::string source_language, target_language;
  bool legacy_behaviour = false;          // NLLB: language at the end
  std::string language_codes = "m2m100";  // M2M100: which set
  bool eos_once = false;         // none is added to a text that ends with it
  int extra_ids = 100;           // T5: <extra_id_0> to ..._99
  int offset = 103;              // Pegasus: ids before the first piece's
  bool separate_vocabs = false;  // Marian: there is a target_vocab.json
  bool sp_options = false;       // sp_model_kwargs is not empty
};

// Reads the files that are there; fields without a file keep their defaults.
// INVALID_ARGUMENT names the file and the field whose value is wrong.
absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory);

// Settings that the vocabulary of a tokenizer gives where there is no
// tokenizer.json. Texts in them are UTF-8.
struct HfPartSettings {
  std::map<std::string, nlohmann::json> overrides;  // whatever the files say
  std::map<std::string, nlohmann::json> defaults;   // where they say nothing
};
// The same for a directory whose tokenizer is made of other files than a
// tokenizer.json.
absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory,
                                      const HfPartSettings& parts);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_TEXT_HF_CONFIG_H_
