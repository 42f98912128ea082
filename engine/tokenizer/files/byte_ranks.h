#ifndef ATTEND_ENGINE_TOKENIZER_FILES_BYTE_RANKS_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_BYTE_RANKS_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/hf_config.h"

namespace attend {

// A vocabulary of byte strings, each with a rank by which it is merged.
struct ByteRanks {
  std::vector<std::string> tokens;   // bytes, by rank; "": none has the rank
  std::vector<std::string> special;  // texts of special tokens
  bool special_first = false;  // their ids come before the ranks, else after
  std::string pattern;         // regular expression of a word
};

// Returns true if a file looks like tiktoken's: its first line is base64 and a
// number.
bool IsTiktoken(absl::string_view text);

// Reads a file of tiktoken: in each line base64 and a rank. `config` has the
// special tokens. INVALID_ARGUMENT names the file and the line: it is no
// base64, no rank of [0, 2^21), or repeats a token or a rank.
absl::StatusOr<ByteRanks> ReadTiktoken(const std::string& path,
                                       absl::string_view text,
                                       const HfConfig& config);

// Reads the tekken.json of Mistral. INVALID_ARGUMENT names the file and the
// field.
absl::StatusOr<ByteRanks> ReadTekken(const std::string& path,
                                     absl::string_view text);

// The tokenizer.json that transformers 5.23 makes of ranks. INVALID_ARGUMENT
// names `path`, too many merges, or a token that is above 1024 bytes.
absl::StatusOr<nlohmann::json> ByteRanksJson(const std::string& path,
                                             const ByteRanks& ranks);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_BYTE_RANKS_H_
