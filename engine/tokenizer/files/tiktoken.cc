// tiktoken's files, in which Llama 3's first publication has its vocabulary.

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/json/json_parse.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/byte_ranks.h"
#include "engine/tokenizer/files/text_lines.h"

namespace attend {
namespace {

using Json = nlohmann::json;

constexpr int kMaxRank = (1 << 21) - 1;
constexpr char kPattern[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Returns false if a line is not base64 and a rank.
bool ReadLine(absl::string_view line, std::string& token, int& rank) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(line, ' ', absl::SkipEmpty());
  return fields.size() == 2 && absl::Base64Unescape(fields[0], &token) &&
         !token.empty() && absl::SimpleAtoi(fields[1], &rank) && rank >= 0 &&
         rank <= kMaxRank;
}

// Special tokens after `base` ranks: those of added_tokens_decoder by their
// ids, with others between them, then the extra ones.
std::vector<std::string> SpecialTokens(int base, const HfConfig& config) {
  std::vector<std::string> special;
  absl::flat_hash_set<std::string> known;
  const auto add = [&](std::string token) {
    if (known.insert(token).second) special.push_back(std::move(token));
  };
  int next = base;
  for (const HfConfig::Token& token : config.added) {
    if (token.id < base) continue;
    for (; next < token.id && next - base < kMaxRank; ++next) {
      add(absl::StrCat("<|reserved_token_", next, "|>"));
    }
    add(token.content);
    ++next;
  }
  const Json* extra = config.settings->Find("extra_special_tokens");
  if (extra == nullptr) return special;
  for (const Json& token : *extra) {
    if (token.is_string()) add(token.get<std::string>());
  }
  return special;
}

}  // namespace

bool IsTiktoken(absl::string_view text) {
  std::string token;
  int rank = 0;
  const absl::string_view line =
      text.substr(0, text.substr(0, 4096).find('\n'));
  return line.size() < 4096 && ReadLine(line, token, rank);
}

absl::StatusOr<ByteRanks> ReadTiktoken(const std::string& path,
                                       absl::string_view text,
                                       const HfConfig& config) {
  ByteRanks ranks;
  ranks.pattern = kPattern;
  absl::flat_hash_set<std::string> known;
  RETURN_IF_ERROR(ForEachLine(
      path, text, [&](int number, absl::string_view line) -> absl::Status {
        if (line.empty()) return absl::OkStatus();
        std::string token;
        int rank = 0;
        if (!ReadLine(line, token, rank)) {
          return LineError(
              path, number,
              absl::StrCat("is \"", ShortText(line),
                           "\", expected base64 and a rank of at most ",
                           kMaxRank));
        }
        if (rank >= static_cast<int>(ranks.tokens.size())) {
          ranks.tokens.resize(rank + 1);
        }
        if (!ranks.tokens[rank].empty() || !known.insert(token).second) {
          return LineError(path, number,
                           absl::StrCat("is \"", ShortText(line),
                                        "\", whose token or rank an earlier "
                                        "line has"));
        }
        ranks.tokens[rank] = std::move(token);
        return absl::OkStatus();
      }));
  if (known.size() != ranks.tokens.size()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has ", known.size(),
                                                   " tokens, but ranks up to ",
                                                   ranks.tokens.size() - 1));
  }
  ranks.special = SpecialTokens(static_cast<int>(ranks.tokens.size()), config);
  return ranks;
}

}  // namespace attend
