#include "engine/tokenizer/files/byte_ranks.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/byte_characters.h"

namespace attend {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxTokenBytes = 1024;
constexpr size_t kMaxMerges = size_t{1} << 21;

// Every way to make a token of two others: tokens by their ranks, and the ways
// of a token by those of its parts.
absl::StatusOr<Json> Merges(const std::string& path, const ByteRanks& ranks) {
  absl::flat_hash_map<absl::string_view, int> by_token;
  for (size_t i = 0; i < ranks.tokens.size(); ++i) {
    if (!ranks.tokens[i].empty()) by_token.emplace(ranks.tokens[i], i);
  }
  Json merges = Json::array();
  std::vector<std::pair<int, int>> ways;
  for (size_t rank = 0; rank < ranks.tokens.size(); ++rank) {
    const absl::string_view token = ranks.tokens[rank];
    if (token.size() > kMaxTokenBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": the token of rank ", rank, " has ",
                       token.size(), " bytes, limit is ", kMaxTokenBytes));
    }
    ways.clear();
    for (size_t at = 1; at < token.size(); ++at) {
      const auto left = by_token.find(token.substr(0, at));
      if (left == by_token.end()) continue;
      const auto right = by_token.find(token.substr(at));
      if (right == by_token.end()) continue;
      ways.emplace_back(left->second, right->second);
    }
    std::sort(ways.begin(), ways.end());
    if (merges.size() + ways.size() > kMaxMerges) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": its tokens make more merges than ", kMaxMerges));
    }
    for (const auto& [left, right] : ways) {
      merges.push_back(
          {SpellBytes(ranks.tokens[left]), SpellBytes(ranks.tokens[right])});
    }
  }
  return merges;
}

Json AddedTokens(const ByteRanks& ranks) {
  Json tokens = Json::array();
  int id = ranks.special_first ? 0 : static_cast<int>(ranks.tokens.size());
  for (const std::string& token : ranks.special) {
    tokens.push_back({{"id", id++},
                      {"content", token},
                      {"single_word", false},
                      {"lstrip", false},
                      {"rstrip", false},
                      {"normalized", false},
                      {"special", true}});
  }
  return tokens;
}

Json ByteLevel(bool add_prefix_space, bool trim_offsets, bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", trim_offsets},
          {"use_regex", use_regex}};
}

}  // namespace

absl::StatusOr<Json> ByteRanksJson(const std::string& path,
                                   const ByteRanks& ranks) {
  ASSIGN_OR_RETURN(Json merges, Merges(path, ranks));
  Json vocab = Json::object();
  const size_t first = ranks.special_first ? ranks.special.size() : 0;
  for (size_t rank = 0; rank < ranks.tokens.size(); ++rank) {
    if (ranks.tokens[rank].empty()) continue;
    vocab[SpellBytes(ranks.tokens[rank])] = first + rank;
  }
  const Json tokens = AddedTokens(ranks);
  if (ranks.special_first) {
    for (const Json& token : tokens) vocab[token["content"]] = token["id"];
  }
  const Json split = {{"type", "Split"},
                      {"pattern", {{"Regex", ranks.pattern}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  return Json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", tokens},
              {"normalizer", nullptr},
              {"pre_tokenizer",
               {{"type", "Sequence"},
                {"pretokenizers",
                 Json::array({split, ByteLevel(false, true, false)})}}},
              {"post_processor", ByteLevel(true, false, true)},
              {"decoder", ByteLevel(true, true, true)},
              {"model",
               {{"type", "BPE"},
                {"fuse_unk", false},
                {"ignore_merges", true},
                {"vocab", std::move(vocab)},
                {"merges", std::move(merges)}}}};
}

}  // namespace attend
