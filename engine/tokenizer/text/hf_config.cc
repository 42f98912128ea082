#include "engine/tokenizer/text/hf_config.h"

#include <map>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/json_fields.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Token = HfConfig::Token;

// A token is a string, or an object that has more to say of it.
absl::StatusOr<Token> ReadToken(const std::string& path, absl::string_view key,
                                const Json& value) {
  Token token;
  if (value.is_string()) {
    token.content = value.get<std::string>();
    return token;
  }
  if (!value.is_object() || !value.contains("content")) {
    return WrongField(path, key, value, "a token");
  }
  RETURN_IF_ERROR(ReadString(path, value, "content", token.content));
  token.special = key != "added_tokens_decoder";
  RETURN_IF_ERROR(ReadBool(path, value, "special", token.special));
  token.normalized = !token.special;
  RETURN_IF_ERROR(ReadBool(path, value, "single_word", token.single_word));
  RETURN_IF_ERROR(ReadBool(path, value, "lstrip", token.lstrip));
  RETURN_IF_ERROR(ReadBool(path, value, "rstrip", token.rstrip));
  RETURN_IF_ERROR(ReadBool(path, value, "normalized", token.normalized));
  return token;
}

absl::Status ReadAdded(const std::string& path, const Json& top,
                       std::vector<Token>& added) {
  constexpr char kKey[] = "added_tokens_decoder";
  const auto found = top.find(kKey);
  if (found == top.end()) return absl::OkStatus();
  if (!found->is_object()) return WrongField(path, kKey, *found, "an object");
  std::map<int, Token> by_id;
  for (const auto& [key, value] : found->items()) {
    int id = 0;
    if (!absl::SimpleAtoi(key, &id)) {
      return WrongField(path, kKey, Json(key), "ids");
    }
    ASSIGN_OR_RETURN(by_id[id], ReadToken(path, kKey, value));
  }
  for (auto& [id, token] : by_id) added.push_back(std::move(token));
  return absl::OkStatus();
}

// Tokens that have a role; a later file does not undo an earlier one.
absl::Status ReadSpecial(const std::string& path, const Json& top,
                         HfConfig& config) {
  const std::pair<const char*, std::string*> roles[] = {
      {"bos_token", &config.bos},  {"eos_token", &config.eos},
      {"unk_token", &config.unk},  {"sep_token", &config.sep},
      {"pad_token", &config.pad},  {"cls_token", &config.cls},
      {"mask_token", &config.mask}};
  for (const auto& [key, content] : roles) {
    const auto found = top.find(key);
    if (found == top.end() || found->is_null() || !content->empty()) continue;
    ASSIGN_OR_RETURN(Token token, ReadToken(path, key, *found));
    *content = token.content;
    token.special = true;
    config.special.push_back(std::move(token));
  }
  for (const char* key :
       {"extra_special_tokens", "additional_special_tokens"}) {
    const auto found = top.find(key);
    if (found == top.end() || found->is_null()) continue;
    if (!found->is_array() && !found->is_object()) {
      return WrongField(path, key, *found, "tokens");
    }
    for (const Json& value : *found) {
      ASSIGN_OR_RETURN(Token token, ReadToken(path, key, value));
      token.special = true;
      config.special.push_back(std::move(token));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTruncationSide(const std::string& path, const Json& top,
                                TruncationSide& side) {
  std::string text = "right";
  RETURN_IF_ERROR(ReadString(path, top, "truncation_side", text));
  if (text != "left" && text != "right") {
    return WrongField(path, "truncation_side", Json(text), "left or right");
  }
  side = text == "left" ? TruncationSide::kLeft : TruncationSide::kRight;
  return absl::OkStatus();
}

absl::Status ReadCount(const std::string& path, const Json& top,
                       const char* key, int& count) {
  const auto found = top.find(key);
  if (found == top.end() || found->is_null()) return absl::OkStatus();
  if (!found->is_number_integer() || *found < 0 || *found > 100000) {
    return WrongField(path, key, *found, "a number from 0 to 100000");
  }
  count = found->get<int>();
  return absl::OkStatus();
}

// The class that transformers takes where no file names one.
std::string ClassOf(absl::string_view model_type) {
  static constexpr std::pair<absl::string_view, const char*> kClasses[] = {
      {"t5", "T5Tokenizer"},           {"mt5", "T5Tokenizer"},
      {"mbart", "MBartTokenizer"},     {"m2m_100", "M2M100Tokenizer"},
      {"pegasus", "PegasusTokenizer"}, {"xlm-roberta", "XLMRobertaTokenizer"}};
  for (const auto& [type, name] : kClasses) {
    if (type == model_type) return name;
  }
  return "";
}

absl::Status ReadClass(const std::string& directory, const std::string& path,
                       const Json& top, std::string& name) {
  RETURN_IF_ERROR(ReadString(path, top, "tokenizer_class", name));
  name = std::string(absl::StripSuffix(name, "Fast"));
  if (!name.empty()) return absl::OkStatus();
  const std::string config_path = directory + "/config.json";
  ASSIGN_OR_RETURN(const Json config, LoadObject(config_path));
  RETURN_IF_ERROR(ReadString(config_path, config, "tokenizer_class", name));
  name = std::string(absl::StripSuffix(name, "Fast"));
  if (!name.empty()) return absl::OkStatus();
  std::string type;
  RETURN_IF_ERROR(ReadString(config_path, config, "model_type", type));
  name = ClassOf(type);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory) {
  const std::string path = directory + "/tokenizer_config.json";
  ASSIGN_OR_RETURN(const Json top, LoadObject(path));
  HfConfig config;
  RETURN_IF_ERROR(ReadClass(directory, path, top, config.tokenizer_class));
  RETURN_IF_ERROR(ReadAdded(path, top, config.added));
  RETURN_IF_ERROR(ReadSpecial(path, top, config));
  if (!top.contains("added_tokens_decoder")) {
    const std::string map_path = directory + "/special_tokens_map.json";
    ASSIGN_OR_RETURN(const Json map, LoadObject(map_path));
    RETURN_IF_ERROR(ReadSpecial(map_path, map, config));
  }
  RETURN_IF_ERROR(ReadLength(path, top, "model_max_length", config.max_length));
  RETURN_IF_ERROR(ReadBool(path, top, "clean_up_tokenization_spaces",
                           config.clean_up_spaces));
  RETURN_IF_ERROR(
      ReadBool(path, top, "split_special_tokens", config.split_special_tokens));
  RETURN_IF_ERROR(ReadTruncationSide(path, top, config.truncation_side));
  RETURN_IF_ERROR(ReadString(path, top, "src_lang", config.source_language));
  RETURN_IF_ERROR(ReadString(path, top, "tgt_lang", config.target_language));
  RETURN_IF_ERROR(
      ReadBool(path, top, "legacy_behaviour", config.legacy_behaviour));
  RETURN_IF_ERROR(ReadCount(path, top, "extra_ids", config.extra_ids));
  RETURN_IF_ERROR(ReadCount(path, top, "offset", config.offset));
  RETURN_IF_ERROR(
      ReadString(path, top, "language_codes", config.language_codes));
  RETURN_IF_ERROR(
      ReadBool(path, top, "separate_vocabs", config.separate_vocabs));
  const auto options = top.find("sp_model_kwargs");
  config.sp_options = options != top.end() && !options->empty();
  return config;
}

std::string ToJson(const std::vector<Token>& tokens) {
  Json list = Json::array();
  for (const Token& token : tokens) {
    list.push_back({{"content", token.content},
                    {"single_word", token.single_word},
                    {"lstrip", token.lstrip},
                    {"rstrip", token.rstrip},
                    {"normalized", token.normalized},
                    {"special", token.special}});
  }
  return list.dump();
}

}  // namespace attend
