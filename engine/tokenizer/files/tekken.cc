// Mistral's tekken.json.

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/byte_ranks.h"

namespace attend {
namespace {

constexpr int kMaxTokens = 1 << 21;

// The texts of special tokens by their ranks, with others up to `count`.
absl::StatusOr<std::vector<std::string>> SpecialTokens(const JsonFile& file,
                                                       int count) {
  ASSIGN_OR_RETURN(const std::vector<JsonFile> listed,
                   file.Objects("special_tokens"));
  std::vector<std::string> special(listed.size());
  const int64_t last = static_cast<int64_t>(listed.size()) - 1;
  for (const JsonFile& token : listed) {
    ASSIGN_OR_RETURN(const int64_t rank, token.Int("rank", {0, last}));
    if (!special[rank].empty()) {
      return token.Unexpected("rank", "one that no other special token has");
    }
    ASSIGN_OR_RETURN(special[rank], token.String("token_str"));
    if (special[rank].empty()) return token.Unexpected("token_str", "a text");
  }
  if (count > 0 && listed.size() > static_cast<size_t>(count)) {
    return file.Unexpected(
        "special_tokens",
        absl::StrCat("at most ", count, " (default_num_special_tokens)"));
  }
  for (int i = static_cast<int>(special.size()); i < count; ++i) {
    special.push_back(absl::StrCat("<SPECIAL_", i, ">"));
  }
  return special;
}

}  // namespace

absl::StatusOr<ByteRanks> ReadTekken(const std::string& path,
                                     absl::string_view text) {
  ASSIGN_OR_RETURN(const JsonFile file, JsonFile::Parse(path, text));
  ASSIGN_OR_RETURN(const JsonFile config, file.Object("config"));
  ByteRanks ranks;
  ranks.special_first = true;
  ASSIGN_OR_RETURN(ranks.pattern, config.String("pattern"));
  ASSIGN_OR_RETURN(const int special, config.IntOr("default_num_special_tokens",
                                                   0, {0, kMaxTokens}));
  ASSIGN_OR_RETURN(ranks.special, SpecialTokens(file, special));
  ASSIGN_OR_RETURN(const std::vector<JsonFile> vocab, file.Objects("vocab"));
  ASSIGN_OR_RETURN(const int size, config.IntOr("default_vocab_size",
                                                kMaxTokens, {1, kMaxTokens}));
  const int inner = size - static_cast<int>(ranks.special.size());
  absl::flat_hash_set<std::string> known;
  for (const JsonFile& entry : vocab) {
    if (static_cast<int>(ranks.tokens.size()) >= inner) break;
    ASSIGN_OR_RETURN(const std::string bytes, entry.String("token_bytes"));
    std::string token;
    if (!absl::Base64Unescape(bytes, &token) || token.empty() ||
        !known.insert(token).second) {
      return entry.Unexpected("token_bytes",
                              "base64 of bytes that no other token has");
    }
    ranks.tokens.push_back(std::move(token));
  }
  if (ranks.tokens.empty()) return file.Unexpected("vocab", "tokens");
  return ranks;
}

}  // namespace attend
