#include "engine/tokenizer/files/python_classes.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/json/read_file.h"
#include "engine/json/utf8.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/byte_characters.h"
#include "engine/tokenizer/files/text_lines.h"

namespace attend {
namespace {

using Json = nlohmann::json;

constexpr int kFirstByte = 3;  // after <pad>, </s> and <unk>

Json Token(int id, const std::string& text, bool strips, bool special) {
  return {{"id", id},           {"content", text},       {"single_word", false},
          {"lstrip", strips},   {"rstrip", strips},      {"normalized", false},
          {"special", special}, {"__type", "AddedToken"}};
}

Json Special(const std::string& text, int id) {
  return {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
}

// A template of texts "A", "B" and of special tokens.
Json Template(const std::vector<std::string>& symbols) {
  Json list = Json::array();
  for (const std::string& symbol : symbols) {
    const bool text = symbol == "A" || symbol == "B";
    list.push_back({{text ? "Sequence" : "SpecialToken",
                     {{"id", symbol}, {"type_id", 0}}}});
  }
  return list;
}

// The tokens of ids 0 to 2 and from 259 on.
absl::StatusOr<std::vector<std::string>> ExtraTokens(const HfConfig& config) {
  std::vector<std::string> tokens;
  for (size_t i = config.roles; i < config.special.size(); ++i) {
    tokens.push_back(config.special[i].content);
  }
  if (!tokens.empty()) return tokens;
  int count = 125;
  if (config.settings->Has("extra_ids")) count = config.extra_ids;
  for (int i = 0; i < count; ++i) {
    tokens.push_back(absl::StrCat("<extra_id_", i, ">"));
  }
  return tokens;
}

}  // namespace

HfPartSettings PythonClassSettings(absl::string_view tokenizer_class) {
  HfPartSettings settings;
  if (tokenizer_class == "ByT5Tokenizer") {
    int id = 0;
    for (const auto& [role, text] :
         {std::pair("pad_token", "<pad>"), std::pair("eos_token", "</s>"),
          std::pair("unk_token", "<unk>")}) {
      settings.defaults[role] = Token(id++, text, true, true);
    }
  }
  if (tokenizer_class == "EsmTokenizer") {
    for (const auto& [role, text] :
         {std::pair("pad_token", "<pad>"), std::pair("eos_token", "<eos>"),
          std::pair("unk_token", "<unk>"), std::pair("cls_token", "<cls>"),
          std::pair("mask_token", "<mask>")}) {
      settings.defaults[role] = text;
    }
  }
  return settings;
}

absl::StatusOr<Json> ByteTokensJson(const HfConfig& config) {
  Json vocab = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    vocab[SpellBytes(std::string(1, static_cast<char>(byte)))] =
        kFirstByte + byte;
  }
  ASSIGN_OR_RETURN(std::vector<std::string> tokens, ExtraTokens(config));
  tokens.insert(tokens.begin(), {config.pad, config.eos, config.unk});
  Json added = Json::array();
  for (size_t i = 0; i < tokens.size(); ++i) {
    const int id = static_cast<int>(i) + (i < kFirstByte ? 0 : 256);
    if (tokens[i].empty() || !vocab.emplace(tokens[i], id).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tokenizer_config.json: ByT5Tokenizer has the token \"", tokens[i],
          "\" for id ", id, ", expected one that no other id has"));
    }
    // The settings have the others, with what they strip.
    if (i >= kFirstByte) added.push_back(Token(id, tokens[i], false, true));
  }
  const Json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", false},
                      {"use_regex", false}};
  // Python leaves out bytes that are no characters.
  const Json drop = {{"type", "Replace"},
                     {"pattern", {{"String", std::string(kReplacement)}}},
                     {"content", ""}};
  return Json{
      {"version", "1.0"},
      {"added_tokens", std::move(added)},
      {"normalizer", nullptr},
      {"pre_tokenizer", bytes},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", Template({"A", config.eos})},
        {"pair", Template({"A", config.eos, "B", config.eos})},
        {"special_tokens", {{config.eos, Special(config.eos, 1)}}}}},
      {"decoder",
       {{"type", "Sequence"}, {"decoders", Json::array({bytes, drop})}}},
      {"model",
       {{"type", "BPE"},
        {"vocab", std::move(vocab)},
        {"merges", Json::array()}}}};
}

absl::StatusOr<Json> PlainTokensJson(const std::string& path,
                                     const HfConfig& config) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Json vocab = Json::object();
  RETURN_IF_ERROR(ForEachLine(
      path, text, [&](int number, absl::string_view line) -> absl::Status {
        const std::string token(absl::StripAsciiWhitespace(line));
        if (token.empty() || !vocab.emplace(token, number - 1).second) {
          return LineError(path, number,
                           absl::StrCat("is \"", token,
                                        "\", expected a token that no other "
                                        "line has"));
        }
        return absl::OkStatus();
      }));
  for (const std::string& role : {config.cls, config.eos, config.unk}) {
    if (vocab.contains(role)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has no token \"", role, "\""));
  }
  Json added = Json::array();
  for (const auto& [token, id] : vocab.items()) {
    added.push_back(Token(id.get<int>(), token, false, false));
  }
  const std::string &cls = config.cls, &eos = config.eos;
  Json special = {{cls, Special(cls, vocab[cls])},
                  {eos, Special(eos, vocab[eos])}};
  return Json{{"version", "1.0"},
              {"added_tokens", std::move(added)},
              {"normalizer", nullptr},
              {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
              {"post_processor",
               {{"type", "TemplateProcessing"},
                {"single", Template({cls, "A", eos})},
                {"pair", Template({cls, "A", eos, "B", eos})},
                {"special_tokens", std::move(special)}}},
              {"decoder", nullptr},
              {"model",
               {{"type", "WordLevel"},
                {"vocab", std::move(vocab)},
                {"unk_token", config.unk}}}};
}

}  // namespace attend
