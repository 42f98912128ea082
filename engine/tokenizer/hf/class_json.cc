#include "engine/tokenizer/hf/class_json.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/json/json_parse.h"
#include "engine/tokenizer/hf/class_values.h"
#include "engine/tokenizer/text/class_table.h"
#include "engine/tokenizer/text/hf_token_json.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Token = HfConfig::Token;

// The table of the first Precompiled normalizer, base64; null if there is none.
Json CharsmapOf(const Json& file) {
  const Json normalizer = file.value("normalizer", Json());
  if (!normalizer.is_object()) return nullptr;
  Json steps = Json::array({normalizer});
  if (normalizer.value("type", Json()) == "Sequence") {
    steps = normalizer.value("normalizers", Json());
  }
  for (const Json& step : steps) {
    if (step.is_object() && step.value("type", Json()) == "Precompiled") {
      return step.value("precompiled_charsmap", Json());
    }
  }
  return nullptr;
}

// The index of the unknown piece of a Unigram model.
int UnknownPiece(const Json& rule, const Json& vocab, const HfConfig& config,
                 const ClassValues& values) {
  if (rule.is_string()) {
    const Json flag = values.Value(rule);
    return flag.is_number_integer() ? flag.get<int>() : 0;
  }
  if (rule.is_number()) return rule;
  const bool scored = rule.contains("scored");
  for (size_t i = 0; i < vocab.size(); ++i) {
    if (vocab[i][0] != config.unk) continue;
    if (!scored || vocab[i][1] == 0) return static_cast<int>(i);
  }
  const Json& fallback = rule[scored ? "scored" : "first"];
  return fallback.is_null() ? -1 : fallback.get<int>();
}

// True if a vocabulary is a list of pieces with scores, and not empty.
bool IsScored(const Json& vocab) {
  return vocab.is_array() && !vocab.empty() &&
         std::all_of(vocab.begin(), vocab.end(), [](const Json& piece) {
           return piece.is_array() && piece.size() == 2;
         });
}

// Takes vocabulary and merges from `from`. Null if the class cannot take them.
Json ModelJson(const Json& row, const Json& from, const HfConfig& config,
               const ClassValues& values) {
  Json model = values.Fill(row["model"]);
  const Json vocab = from.value("vocab", Json());
  if (model["type"] == "Unigram") {
    if (!IsScored(vocab)) return {};
    const int unknown = UnknownPiece(row["unk"], vocab, config, values);
    if (unknown < 0) return {};
    model["unk_id"] = unknown;
    model["vocab"] = vocab;
    return model;
  }
  Json ids = vocab;
  if (vocab.is_array()) {
    ids = Json::object();
    for (size_t id = 0; id < vocab.size(); ++id) {
      const bool scored = vocab[id].is_array() && !vocab[id].empty();
      const Json& piece = scored ? vocab[id][0] : vocab[id];
      if (!piece.is_string()) return {};
      ids[piece.get<std::string>()] = id;
    }
  }
  if (!ids.is_object()) return {};
  model["vocab"] = std::move(ids);
  if (model["type"] == "BPE") {
    model["merges"] = from.value("merges", Json::array());
  }
  return model;
}

// The file that the class makes; null if it cannot.
Json ClassFile(const Json& row, const Json& file, const HfConfig& config) {
  const Json from = file.value("model", Json());
  if (!from.is_object()) return {};
  const ClassValues values(row, config, CharsmapOf(file));
  Json made = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"added_tokens", Json::array()},
               {"post_processor", file.value("post_processor", Json())}};
  made["model"] = ModelJson(row, from, config, values);
  if (made["model"].is_null()) return {};
  for (const char* part : {"normalizer", "pre_tokenizer", "decoder"}) {
    made[part] = values.Fill(row.value(part, Json()));
  }
  return made;
}

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

bool SameToken(const Token& a, const Token& b) {
  return std::tie(a.content, a.single_word, a.lstrip, a.rstrip, a.normalized,
                  a.special) == std::tie(b.content, b.single_word, b.lstrip,
                                         b.rstrip, b.normalized, b.special);
}

// Puts all tokens that are to be added into config.added. `present`: the
// tokenizer has those of `file` already.
void GatherTokens(const std::vector<Token>& file, bool present,
                  HfConfig& config) {
  if (!config.names_added) {
    std::map<int, Token> by_id;
    for (const Token& token : config.added) by_id[token.id] = token;
    for (const Token& token : file) by_id[token.id] = token;
    config.added.clear();
    for (auto& [id, token] : by_id) config.added.push_back(std::move(token));
  }
  std::set<std::string> known;
  if (present) {
    std::erase_if(config.added, [&](const Token& token) {
      return std::any_of(file.begin(), file.end(), [&](const Token& other) {
        return SameToken(token, other);
      });
    });
    for (const Token& token : file) known.insert(token.content);
  }
  for (const Token& token : config.added) known.insert(token.content);
  std::set<std::string> roles;
  for (int i = 0; i < config.roles; ++i) {
    roles.insert(config.special[i].content);
  }
  for (Token& token : config.added) {
    token.special |= roles.count(token.content) > 0;
  }
  for (Token& token : config.special) {
    if (known.insert(token.content).second) config.added.push_back(token);
  }
}

// Parts that a class without a row takes from the file: settings that are left
// out when the tokenizer is loaded.
void ReadDefaults(const Json& file, HfConfig& config) {
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
  if (padding.is_object() && config.pad.empty() && !says_pad) {
    const Json token = padding.value("pad_token", Json());
    if (!token.is_string()) return;
    config.pad = token.get<std::string>();
    config.special.insert(config.special.begin() + config.roles,
                          {.content = config.pad});
    ++config.roles;
  }
}

}  // namespace

std::string ApplyClass(std::string text, HfConfig& config) {
  absl::StatusOr<Json> file = ParseJsonObject("tokenizer.json", text);
  if (!file.ok()) return text;
  const Json* row = FindClassRow(config.tokenizer_class);
  Json made;
  const bool keeps = row != nullptr && row->value("keeps_file", false);
  if (row != nullptr && !keeps) made = ClassFile(*row, *file, config);
  ReadDefaults(*file, config);
  config.built_by_class = keeps || !made.is_null();
  GatherTokens(AddedTokens(*file), made.is_null(), config);
  if (made.is_null()) {
    config.special.clear();
    return text;
  }
  const Json respecial = row->value("respecial", Json());
  for (int i = 0; i < static_cast<int>(config.special.size()); ++i) {
    if (respecial == "all" || (respecial == "extra" && i >= config.roles)) {
      config.added.push_back({.content = config.special[i].content});
    }
  }
  config.special.clear();
  return made.dump();
}

}  // namespace attend
