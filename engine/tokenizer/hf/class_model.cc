#include "engine/tokenizer/hf/class_model.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "engine/tokenizer/text/language_codes.h"

namespace attend {
namespace {

using Json = nlohmann::json;

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
  const Json said = values.Value("unk_id");
  if (scored && said.is_number_integer()) return said.get<int>();
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

// The vocabulary itself if it has a language, else that of fairseq: own tokens
// in the place of the first three pieces, and languages and the mask after the
// others.
Json FairseqVocabulary(const Json& vocab, const HfConfig& config) {
  const auto languages = LanguageTokens(config);
  if (!languages.ok()) return vocab;
  const std::set<std::string> names(languages->begin(), languages->end());
  for (const Json& piece : vocab) {
    if (piece[0].is_string() && names.count(piece[0]) > 0) return vocab;
  }
  Json made = Json::array({{config.cls, 0.0},
                           {config.pad, 0.0},
                           {config.eos, 0.0},
                           {config.unk, 0.0}});
  for (size_t i = 3; i < vocab.size(); ++i) made.push_back(vocab[i]);
  for (const std::string& language : *languages) {
    made.push_back({language, 0.0});
  }
  made.push_back({config.mask, 0.0});
  return made;
}

}  // namespace

Json ClassModel(const Json& row, const Json& from, const HfConfig& config,
                const ClassValues& values) {
  Json model = values.Fill(row["model"]);
  const Json vocab = from.value("vocab", Json());
  if (model["type"] == "Unigram") {
    if (!IsScored(vocab)) return {};
    const int unknown = UnknownPiece(row["unk"], vocab, config, values);
    if (unknown < 0) return {};
    model["unk_id"] = unknown;
    model["vocab"] = row.value("makes_vocabulary", false)
                         ? FairseqVocabulary(vocab, config)
                         : vocab;
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

}  // namespace attend
