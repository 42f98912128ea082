#include "engine/tokenizer/text/added_tokens.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/hf_token_json.h"
#include "engine/tokenizer/text/hf_tokens.h"
#include "engine/tokenizer/text/object_file.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Token = HfConfig::Token;

std::vector<Token> InOrder(std::map<int, Token> by_id) {
  std::vector<Token> tokens;
  tokens.reserve(by_id.size());
  for (auto& [id, token] : by_id) {
    token.id = id;
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// The texts of the tokens that the settings name as special. transformers
// overlooks the objects of tokenizer_config.json, which have a "__type".
std::set<std::string> SpecialTexts(const JsonFile& settings) {
  std::set<std::string> special;
  const auto add = [&](const Json& token) {
    if (token.is_object() && token.contains("__type")) return;
    const Json& text =
        token.is_object() ? token.value("content", Json()) : token;
    if (text.is_string()) special.insert(text.get<std::string>());
  };
  for (const char* role : kRoleTokens) {
    if (const Json* found = settings.Find(role)) add(*found);
  }
  const Json* extra = settings.Find(kExtraTokens);
  if (extra != nullptr && extra->is_array()) {
    for (const Json& token : *extra) add(token);
  }
  return special;
}

}  // namespace

absl::StatusOr<std::vector<Token>> TokensOfDecoder(const std::string& path,
                                                   const Json& decoder) {
  constexpr char kKey[] = "added_tokens_decoder";
  const JsonFile file = JsonFile::Of(path, {{kKey, decoder}});
  if (!decoder.is_object()) return file.Unexpected(kKey, "an object");
  std::map<int, Token> by_id;
  for (const auto& [key, value] : decoder.items()) {
    int id = 0;
    if (!absl::SimpleAtoi(key, &id)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": ", kKey, " has \"", key, "\", expected ids"));
    }
    ASSIGN_OR_RETURN(by_id[id], ReadToken(file, kKey, value));
  }
  return InOrder(std::move(by_id));
}

absl::StatusOr<std::vector<Token>> TokensOfAddedFile(const std::string& path,
                                                     const JsonFile& settings) {
  ASSIGN_OR_RETURN(const ObjectFile object, ObjectFile::Load(path));
  const JsonFile file = JsonFile::Of(path, object.top);
  const std::set<std::string> special = SpecialTexts(settings);
  std::map<int, Token> by_id;
  for (const auto& [text, value] : object.top.items()) {
    ASSIGN_OR_RETURN(const int64_t id, file.Int(text, {0, 1 << 24}));
    const bool is_special = special.count(text) > 0;
    by_id[static_cast<int>(id)] = {
        .content = text, .normalized = !is_special, .special = is_special};
  }
  return InOrder(std::move(by_id));
}

}  // namespace attend
