#include "engine/tokenizer/hf/class_tokens.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/tokenizer/hf/class_values.h"
#include "engine/tokenizer/text/hf_token_json.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Token = HfConfig::Token;

std::vector<Token> AddedTokens(const Json& file) {
  std::vector<Token> tokens;
  const JsonFile named = JsonFile::Of("tokenizer.json", Json::object());
  for (const Json& value : file.value("added_tokens", Json::array())) {
    auto token = ReadToken(named, "added_tokens", value);
    if (!token.ok()) continue;  // the library says what is wrong
    const Json id = value.is_object() ? value.value("id", Json()) : Json();
    if (id.is_number_unsigned()) token->id = id.get<int>();
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

}  // namespace

void GatherTokens(const Json& json, bool present, HfConfig& config) {
  const std::vector<Token> file = AddedTokens(json);
  if (!config.names_added) {
    std::map<int, Token> by_id;
    for (const Token& token : config.added) by_id[token.id] = token;
    for (const Token& token : file) by_id[token.id] = token;
    config.added.clear();
    for (auto& [id, token] : by_id) config.added.push_back(std::move(token));
  }
  std::set<std::string> roles;
  for (int i = 0; i < config.roles; ++i) {
    roles.insert(config.special[i].content);
  }
  for (Token& token : config.added) {
    token.special |= roles.count(token.content) > 0;
  }
  std::set<std::string> known;
  if (present) {
    std::set<std::string> same;
    for (const Token& token : file) {
      same.insert(ToJson({token}));
      known.insert(token.content);
    }
    std::erase_if(config.added, [&](const Token& token) {
      return same.count(ToJson({token})) > 0;
    });
  }
  for (const Token& token : config.added) known.insert(token.content);
  // All are added: the last of several tokens with the same text counts.
  std::set<std::string> added;
  for (size_t i = 0; i < config.special.size(); ++i) {
    const Token& token = config.special[i];
    if (known.count(token.content) > 0) continue;
    // The pieces of a SentencePiece model are no texts, as roles are.
    const bool piece = config.of_parts && i >= size_t(config.roles);
    if (added.insert(ToJson({token})).second || piece) {
      config.added.push_back(token);
    }
  }
}

void AddAgain(const Json& which, HfConfig& config) {
  std::map<std::string, Token> known;
  for (const Token& token : config.added) known[token.content] = token;
  for (const Token& token : config.special) {
    if (which == "all") {
      config.added.push_back({.content = token.content});
    } else if (which == "extra" || which == "last") {
      const auto found = known.find(token.content);
      const bool as_known = token.named && found != known.end();
      config.added.push_back(as_known ? found->second : token);
      config.added.back().special = true;
    }
  }
}

void ReadDefaults(const Json& file, const Json* row, HfConfig& config) {
  const Json truncation = file.value("truncation", Json());
  if (truncation.is_object() && !config.cut_side) {
    config.truncation_side = truncation.value("direction", Json()) == "Left"
                                 ? TruncationSide::kLeft
                                 : TruncationSide::kRight;
  }
  const Json padding = file.value("padding", Json());
  const bool says_pad =
      config.settings && (config.settings->Has("pad_token") ||
                          config.settings->IsNull("pad_token"));
  constexpr const char* kBefore[] = {"bos", "eos", "unk", "sep"};
  const bool class_says =
      row != nullptr && (*row)["roles"].contains("pad_token");
  if (padding.is_object() && !says_pad && !class_says) {
    const Json token = padding.value("pad_token", Json());
    if (!token.is_string()) return;
    config.pad = token.get<std::string>();
    // Among the roles its place is after these.
    const auto before = std::count_if(
        std::begin(kBefore), std::end(kBefore),
        [&](const char* role) { return !RoleText(config, role).empty(); });
    config.special.insert(config.special.begin() + before,
                          {.content = config.pad});
    ++config.roles;
  }
}

}  // namespace attend
