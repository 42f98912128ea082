#include "engine/tokenizer/spm/spm_json.h"

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/spm/spm_rules.h"
#include "engine/tokenizer/text/language_codes.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

using Json = nlohmann::json;

// Builds a tokenizer.json. The arguments of the constructor must outlive the
// builder.
class Builder {
 public:
  Builder(const std::string& path, const SpmFile& file, const HfConfig& config,
          const SpmRules& rules)
      : path_(path), file_(file), config_(config), rules_(rules) {}

  absl::Status AddPieces();
  Json ToJson() const;

 private:
  // The config's token for a role; if that is empty, the class's token.
  static std::string Or(const std::string& name, const char* other) {
    return name.empty() ? other : name;
  }
  // The token that the files name; "" if they say that there is none.
  std::string Named(const char* key, const char* other) const {
    if (!config_.settings) return other;
    if (config_.settings->IsNull(key)) return "";
    const Json* said = config_.settings->Find(key);
    if (said != nullptr && said->is_object() && said->contains("content")) {
      said = &(*said)["content"];
    }
    return said != nullptr && said->is_string() ? said->get<std::string>()
                                                : other;
  }
  std::string eos() const { return Or(config_.eos, "</s>"); }
  std::string bos() const { return Or(config_.bos, "<s>"); }

  absl::Status Add(const std::string& piece, double score);
  // Adds a special token, with its properties in the config.
  absl::Status AddSpecial(const std::string& token, double score = 0);
  void AddToken(HfConfig::Token token);
  absl::Status AddBefore();
  absl::Status AddFile();
  absl::Status AddAfter();
  Json NormalizerJson() const;
  Json Template(absl::string_view symbols) const;

  const std::string& path_;
  const SpmFile& file_;
  const HfConfig& config_;
  const SpmRules& rules_;
  std::map<std::string, int> ids_;
  Json vocab_ = Json::array();   // [piece, score]
  Json tokens_ = Json::array();  // found in text before it is cut
  int unknown_id_ = -1;
};

absl::Status Builder::Add(const std::string& piece, double score) {
  if (!ids_.emplace(piece, static_cast<int>(vocab_.size())).second) {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": piece \"", piece, "\" occurs twice, with ids ", ids_[piece],
        " and ", vocab_.size(), " of ", rules_.tokenizer_class));
  }
  vocab_.push_back({piece, score});
  return absl::OkStatus();
}

void Builder::AddToken(HfConfig::Token token) {
  for (const HfConfig::Token& said : config_.special) {
    if (said.content == token.content) token = said;
  }
  const bool is_mask = token.content == Or(config_.mask, "<mask>");
  tokens_.push_back(
      {{"id", ids_[token.content]},
       {"content", token.content},
       {"single_word", token.single_word},
       {"lstrip", token.lstrip || (is_mask && rules_.mask_strips)},
       {"rstrip", token.rstrip},
       {"normalized", token.normalized},
       {"special", token.special}});
}

absl::Status Builder::AddSpecial(const std::string& token, double score) {
  RETURN_IF_ERROR(Add(token, score));
  AddToken({.content = token});
  return absl::OkStatus();
}

absl::Status Builder::AddBefore() {
  const std::string pad = Or(config_.pad, "<pad>");
  if (rules_.before == SpmRules::Before::kFairseq) {
    for (const std::string& token :
         {bos(), pad, eos(), Or(config_.unk, "<unk>")}) {
      unknown_id_ = static_cast<int>(vocab_.size());  // the last one
      RETURN_IF_ERROR(AddSpecial(token));
    }
  }
  if (rules_.before == SpmRules::Before::kPegasus) {
    // Where the files name no masks, the class calls them so.
    const std::string mask = Named("mask_token", "<mask_1>");
    const std::string sentence_mask = Named("mask_token_sent", "<mask_2>");
    for (const std::string& token : {pad, eos(), mask}) {
      if (!token.empty()) RETURN_IF_ERROR(AddSpecial(token));
    }
    if (!sentence_mask.empty() && sentence_mask != mask) {
      RETURN_IF_ERROR(AddSpecial(sentence_mask));
    }
    for (int i = 2; i < config_.offset; ++i) {
      RETURN_IF_ERROR(AddSpecial(absl::StrCat("<unk_", i, ">"), -100));
    }
  }
  return absl::OkStatus();
}

absl::Status Builder::AddFile() {
  using Type = SpmFile::Type;
  const int size = static_cast<int>(file_.pieces.size());
  for (int i = 0; i < size; ++i) {
    const SpmFile::Piece& piece = file_.pieces[i];
    const bool own = piece.type == Type::kControl || i == file_.unknown_id;
    if (i < rules_.replaced) {
      if (own) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          path_, ": piece ", i, " is \"", piece.text, "\", expected ",
          rules_.replaced, " control pieces first, as ", rules_.tokenizer_class,
          " has"));
    }
    if (i == file_.unknown_id) {
      if (unknown_id_ >= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(path_, ": piece ", i,
                         " is the unknown one, expected it below piece ",
                         rules_.replaced, " for ", rules_.tokenizer_class));
      }
      unknown_id_ = static_cast<int>(vocab_.size());
    }
    RETURN_IF_ERROR(Add(piece.text, piece.score));
    if (i == file_.unknown_id || (rules_.finds_symbols && own)) {
      AddToken({.content = piece.text});
    } else if (rules_.finds_symbols && piece.type == Type::kUserDefined) {
      AddToken({.content = piece.text, .special = false});
    }
  }
  if (unknown_id_ < 0 || size <= rules_.replaced) {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, ": ", size, " pieces, of which none after the first ",
        rules_.replaced, " is the unknown one"));
  }
  return absl::OkStatus();
}

absl::Status Builder::AddAfter() {
  if (rules_.after == SpmRules::After::kExtraIds) {
    for (int i = config_.extra_ids; i-- > 0;) {
      RETURN_IF_ERROR(AddSpecial(absl::StrCat("<extra_id_", i, ">")));
    }
  }
  if (rules_.after == SpmRules::After::kLanguagesAndMask) {
    ASSIGN_OR_RETURN(std::vector<std::string> tokens, LanguageTokens(config_));
    tokens.push_back(Or(config_.mask, "<mask>"));
    for (const std::string& token : tokens) RETURN_IF_ERROR(AddSpecial(token));
  }
  return absl::OkStatus();
}

absl::Status Builder::AddPieces() {
  RETURN_IF_ERROR(AddBefore());
  RETURN_IF_ERROR(AddFile());
  RETURN_IF_ERROR(AddAfter());
  if (ids_.count(eos()) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": no piece \"", eos(), "\", the eos_token"));
  }
  return absl::OkStatus();
}

Json Builder::NormalizerJson() const {
  const auto replace = [](const char* pattern) {
    return Json{{"type", "Replace"},
                {"pattern", {{"Regex", pattern}}},
                {"content", " "}};
  };
  Json steps = Json::array();
  if (rules_.normalizer != SpmRules::Normalizer::kNone &&
      !file_.charsmap.empty()) {
    steps.push_back(
        {{"type", "Precompiled"},
         {"precompiled_charsmap", absl::Base64Escape(file_.charsmap)}});
  }
  if (rules_.before == SpmRules::Before::kPegasus && file_.charsmap.empty()) {
    steps.push_back(replace("\\n"));
  }
  if (rules_.normalizer == SpmRules::Normalizer::kRulesAndSpaces) {
    steps.push_back(replace(" {2,}"));
  }
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

// The post-processor of SpmRules::single or SpmRules::pair.
Json Builder::Template(absl::string_view symbols) const {
  Json list = Json::array();
  for (const char symbol : symbols) {
    const bool text = symbol == 'A' || symbol == 'B';
    const std::string id = text            ? std::string(1, symbol)
                           : symbol == '^' ? bos()
                                           : eos();
    list.push_back(
        {{text ? "Sequence" : "SpecialToken", {{"id", id}, {"type_id", 0}}}});
  }
  return list;
}

Json Builder::ToJson() const {
  const Json metaspace = {{"type", "Metaspace"},
                          {"replacement", std::string(kSpaceMark)},
                          {"prepend_scheme", "always"},
                          {"split", true}};
  Json special = Json::object();
  for (const std::string& token : {bos(), eos()}) {
    const auto found = ids_.find(token);
    if (found == ids_.end()) continue;  // T5 has no beginning
    special[token] = {
        {"id", token}, {"ids", {found->second}}, {"tokens", {token}}};
  }
  Json pre_tokenizers = Json::array();
  if (rules_.splits_at_spaces) {
    pre_tokenizers.push_back({{"type", "WhitespaceSplit"}});
  }
  pre_tokenizers.push_back(metaspace);
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", tokens_},
          {"normalizer", NormalizerJson()},
          {"pre_tokenizer",
           {{"type", "Sequence"}, {"pretokenizers", pre_tokenizers}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", Template(rules_.single)},
            {"pair", Template(rules_.pair)},
            {"special_tokens", special}}},
          {"decoder", metaspace},
          {"model",
           {{"type", "Unigram"},
            {"unk_id", unknown_id_},
            {"vocab", vocab_},
            {"byte_fallback", false}}}};
}

}  // namespace

absl::StatusOr<std::string> SpmToJson(const std::string& path,
                                      const SpmFile& file,
                                      const HfConfig& config) {
  ASSIGN_OR_RETURN(const SpmRules rules,
                   SpmRulesOf(path, config.tokenizer_class));
  if (file.model != SpmFile::Model::kUnigram) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": model_type is 2 (bpe), expected 1 (unigram) for ",
                     rules.tokenizer_class));
  }
  Builder builder(path, file, config, rules);
  RETURN_IF_ERROR(builder.AddPieces());
  return builder.ToJson().dump();
}

}  // namespace attend
