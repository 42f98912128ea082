#include "engine/tokenizer/text/hf_config.h"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/json/json_file.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Token = HfConfig::Token;

constexpr char kAdded[] = "added_tokens_decoder";

// Reads a token: a string, or an object with the token's properties. `value` is
// inside the value of `key`.
absl::StatusOr<Token> ReadToken(const JsonFile& file, const char* key,
                                const Json& value) {
  Token token;
  if (value.is_string()) {
    token.content = value.get<std::string>();
    return token;
  }
  if (!value.is_object() || !value.contains("content")) {
    return file.Unexpected(key, "a token");
  }
  ASSIGN_OR_RETURN(const JsonFile said, file.ObjectAt(key, value));
  ASSIGN_OR_RETURN(token.content, said.StringOr("content", ""));
  token.special = key != absl::string_view(kAdded);
  ASSIGN_OR_RETURN(token.special, said.BoolOr("special", token.special));
  ASSIGN_OR_RETURN(token.single_word, said.BoolOr("single_word", false));
  ASSIGN_OR_RETURN(token.lstrip, said.BoolOr("lstrip", false));
  ASSIGN_OR_RETURN(token.rstrip, said.BoolOr("rstrip", false));
  ASSIGN_OR_RETURN(token.normalized, said.BoolOr("normalized", !token.special));
  return token;
}

absl::Status ReadAdded(const JsonFile& file, std::vector<Token>& added) {
  const Json* found = file.Find(kAdded);
  if (found == nullptr) return absl::OkStatus();
  if (!found->is_object()) return file.Unexpected(kAdded, "an object");
  std::map<int, Token> by_id;
  for (const auto& [key, value] : found->items()) {
    int id = 0;
    if (!absl::SimpleAtoi(key, &id)) {
      return absl::InvalidArgumentError(absl::StrCat(
          file.path(), ": ", kAdded, " has \"", key, "\", expected ids"));
    }
    ASSIGN_OR_RETURN(by_id[id], ReadToken(file, kAdded, value));
  }
  for (auto& [id, token] : by_id) added.push_back(std::move(token));
  return absl::OkStatus();
}

// Reads the tokens that have a role. A role that an earlier file has set stays.
absl::Status ReadSpecial(const JsonFile& file, HfConfig& config) {
  const std::pair<const char*, std::string*> roles[] = {
      {"bos_token", &config.bos},  {"eos_token", &config.eos},
      {"unk_token", &config.unk},  {"sep_token", &config.sep},
      {"pad_token", &config.pad},  {"cls_token", &config.cls},
      {"mask_token", &config.mask}};
  for (const auto& [key, content] : roles) {
    const Json* found = file.Find(key);
    if (found == nullptr || !content->empty()) continue;
    ASSIGN_OR_RETURN(Token token, ReadToken(file, key, *found));
    *content = token.content;
    token.special = true;
    config.special.push_back(std::move(token));
  }
  for (const char* key :
       {"extra_special_tokens", "additional_special_tokens"}) {
    const Json* found = file.Find(key);
    if (found == nullptr) continue;
    if (!found->is_array() && !found->is_object()) {
      return file.Unexpected(key, "tokens");
    }
    for (const Json& value : *found) {
      ASSIGN_OR_RETURN(Token token, ReadToken(file, key, value));
      token.special = true;
      config.special.push_back(std::move(token));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTruncationSide(const JsonFile& file, TruncationSide& side) {
  constexpr char kKey[] = "truncation_side";
  ASSIGN_OR_RETURN(const std::string text, file.StringOr(kKey, "right"));
  if (text != "left" && text != "right") {
    return file.Unexpected(kKey, "left or right");
  }
  side = text == "left" ? TruncationSide::kLeft : TruncationSide::kRight;
  return absl::OkStatus();
}

// Reads the limit of tokens; 0 if the number is above every length
// (transformers writes 1e30 if there is no limit).
absl::Status ReadMaxLength(const JsonFile& file, int& length) {
  constexpr FloatRange kPositive = {1, std::numeric_limits<double>::max()};
  ASSIGN_OR_RETURN(const double value,
                   file.FloatOr("model_max_length", 0, kPositive));
  length = value < 1 << 30 ? static_cast<int>(value) : 0;
  return absl::OkStatus();
}

// The tokenizer class that transformers takes if no file names one.
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

absl::Status ReadClass(const std::string& directory, const JsonFile& file,
                       std::string& name) {
  ASSIGN_OR_RETURN(name, file.StringOr("tokenizer_class", ""));
  name = std::string(absl::StripSuffix(name, "Fast"));
  if (!name.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::LoadOrEmpty(directory + "/config.json"));
  ASSIGN_OR_RETURN(name, config.StringOr("tokenizer_class", ""));
  name = std::string(absl::StripSuffix(name, "Fast"));
  if (!name.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string type, config.StringOr("model_type", ""));
  name = ClassOf(type);
  return absl::OkStatus();
}

// Reads the fields that are flags, strings or numbers; `config` has the
// defaults.
absl::Status ReadValues(const JsonFile& file, HfConfig& config) {
  const std::pair<const char*, bool*> flags[] = {
      {"clean_up_tokenization_spaces", &config.clean_up_spaces},
      {"split_special_tokens", &config.split_special_tokens},
      {"legacy_behaviour", &config.legacy_behaviour},
      {"separate_vocabs", &config.separate_vocabs}};
  for (const auto& [key, flag] : flags) {
    ASSIGN_OR_RETURN(*flag, file.BoolOr(key, *flag));
  }
  const std::pair<const char*, std::string*> texts[] = {
      {"src_lang", &config.source_language},
      {"tgt_lang", &config.target_language},
      // Marian calls them so.
      {"source_lang", &config.source_language},
      {"target_lang", &config.target_language},
      {"language_codes", &config.language_codes}};
  for (const auto& [key, text] : texts) {
    ASSIGN_OR_RETURN(*text, file.StringOr(key, *text));
  }
  const std::pair<const char*, int*> counts[] = {
      {"extra_ids", &config.extra_ids}, {"offset", &config.offset}};
  for (const auto& [key, count] : counts) {
    ASSIGN_OR_RETURN(*count, file.IntOr(key, *count, {0, 100000}));
  }
  const Json* options = file.Find("sp_model_kwargs");
  config.sp_options = options != nullptr && !options->empty();
  RETURN_IF_ERROR(ReadMaxLength(file, config.max_length));
  return ReadTruncationSide(file, config.truncation_side);
}

}  // namespace

absl::StatusOr<HfConfig> LoadHfConfig(const std::string& directory) {
  ASSIGN_OR_RETURN(const JsonFile file,
                   JsonFile::LoadOrEmpty(directory + "/tokenizer_config.json"));
  HfConfig config;
  RETURN_IF_ERROR(ReadClass(directory, file, config.tokenizer_class));
  RETURN_IF_ERROR(ReadAdded(file, config.added));
  RETURN_IF_ERROR(ReadSpecial(file, config));
  if (!file.Has(kAdded)) {
    ASSIGN_OR_RETURN(
        const JsonFile map,
        JsonFile::LoadOrEmpty(directory + "/special_tokens_map.json"));
    RETURN_IF_ERROR(ReadSpecial(map, config));
  }
  RETURN_IF_ERROR(ReadValues(file, config));
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
