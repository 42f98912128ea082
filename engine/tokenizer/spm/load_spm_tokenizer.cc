// How the files of a tokenizer become an SpmTokenizer.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/spm/model_card.h"
#include "engine/tokenizer/spm/spm_tokenizer.h"
#include "engine/tokenizer/text/language_codes.h"

namespace attend {
namespace {

// The config, or an error if it has values that these classes do not support.
absl::StatusOr<HfConfig> Checked(HfConfig config) {
  constexpr char kPath[] = "tokenizer_config.json";
  if (config.sp_options) {
    return absl::InvalidArgumentError(
        absl::StrCat(kPath, ": sp_model_kwargs is not empty"));
  }
  for (const auto* tokens : {&config.special, &config.added}) {
    for (const HfConfig::Token& token : *tokens) {
      if (!token.lstrip && !token.rstrip && !token.single_word) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(kPath, ": token \"", token.content, "\": expected ",
                       "lstrip, rstrip and single_word to be false"));
    }
  }
  for (auto& [token, spelling] :
       {std::pair(&config.eos, "</s>"), std::pair(&config.unk, "<unk>"),
        std::pair(&config.pad, "<pad>")}) {
    if (token->empty()) *token = spelling;
  }
  return config;
}

// Appends the tokens that the settings add after those of the file at `path`.
absl::Status AddTokens(const std::string& path, const HfConfig& config,
                       Vocabulary& tokens) {
  std::vector<HfConfig::Token> added = config.added;
  added.insert(added.end(), config.special.begin() + config.roles,
               config.special.end());
  for (const HfConfig::Token& token : added) {
    const int known = tokens.Find(token.content);
    const int id = token.id < 0 ? std::max(known, tokens.size()) : token.id;
    if (known >= 0 && (token.id < 0 || known == id)) continue;
    if (known >= 0 || id != tokens.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": the added token \"", token.content, "\" has id ", id,
          ", expected ", known >= 0 ? known : tokens.size(),
          known >= 0 ? ", as in the vocabulary" : ", the next one"));
    }
    if (config.separate_vocabs) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": the token \"", token.content, "\" is added to separate ",
          "vocabularies, which is not supported"));
    }
    RETURN_IF_ERROR(tokens.Add(token.content));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SpmTokenizer::SharedSideModel> SpmTokenizer::LoadSide(
    const std::string& path, Vocabulary tokens, const std::string& spm,
    const HfConfig& config) {
  ASSIGN_OR_RETURN(SentencePiece encoder, SentencePiece::Load(spm));
  SideModel side{std::move(tokens), std::move(encoder), 0, 0, {}};
  side.special.resize(side.vocabulary.size());
  for (const std::string& token : SpecialTokens(config)) {
    const int id = side.vocabulary.Find(token);
    if (id < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": special token \"", token, "\" is missing"));
    }
    side.special[id] = true;
  }
  // Tokens that a tuning added are text, too.
  for (const HfConfig::Token& token : config.added) {
    if (!token.special)
      side.special[side.vocabulary.Find(token.content)] = false;
  }
  side.eos_id = side.vocabulary.Find(config.eos);
  side.unk_id = side.vocabulary.Find(config.unk);
  return std::make_shared<const SideModel>(std::move(side));
}

absl::StatusOr<std::unique_ptr<SpmTokenizer>> SpmTokenizer::LoadMarian(
    const std::string& directory) {
  const std::string prefix = directory + "/";
  ASSIGN_OR_RETURN(HfConfig config, LoadHfConfig(directory));
  ASSIGN_OR_RETURN(config, Checked(std::move(config)));
  config.tokenizer_class = "MarianTokenizer";  // no class's languages
  const auto load = [&](const char* vocabulary,
                        const char* spm) -> absl::StatusOr<SharedSideModel> {
    const std::string path = prefix + vocabulary;
    ASSIGN_OR_RETURN(Vocabulary tokens, Vocabulary::Load(path));
    RETURN_IF_ERROR(AddTokens(path, config, tokens));
    return LoadSide(path, std::move(tokens), prefix + spm, config);
  };
  ASSIGN_OR_RETURN(SharedSideModel source, load("vocab.json", "source.spm"));
  ASSIGN_OR_RETURN(
      SharedSideModel target,
      load(config.separate_vocabs ? "target_vocab.json" : "vocab.json",
           "target.spm"));
  return std::unique_ptr<SpmTokenizer>(
      new SpmTokenizer(std::move(config), std::move(source), std::move(target),
                       LoadModelCard(directory)));
}

absl::StatusOr<std::unique_ptr<SpmTokenizer>> SpmTokenizer::LoadMarian(
    const std::string& directory, Vocabularies vocabularies) {
  const std::string prefix = directory + "/";
  ASSIGN_OR_RETURN(HfConfig config, LoadHfConfig(directory));
  ASSIGN_OR_RETURN(config, Checked(std::move(config)));
  config.tokenizer_class = "MarianTokenizer";
  config.separate_vocabs = vocabularies.separate;
  const auto absent = [&](absl::string_view token) {
    return vocabularies.source.Find(token) < 0 ||
           vocabularies.target.Find(token) < 0;
  };
  if (absent(config.pad)) config.pad.clear();
  for (auto* tokens : {&config.special, &config.added}) {
    tokens->erase(std::remove_if(tokens->begin(), tokens->end(),
                                 [&](const HfConfig::Token& token) {
                                   return absent(token.content);
                                 }),
                  tokens->end());
  }
  ASSIGN_OR_RETURN(SharedSideModel source,
                   LoadSide(vocabularies.path, std::move(vocabularies.source),
                            prefix + "source.spm", config));
  ASSIGN_OR_RETURN(SharedSideModel target,
                   LoadSide(vocabularies.path, std::move(vocabularies.target),
                            prefix + "target.spm", config));
  return std::unique_ptr<SpmTokenizer>(
      new SpmTokenizer(std::move(config), std::move(source), std::move(target),
                       LoadModelCard(directory)));
}

absl::StatusOr<std::unique_ptr<SpmTokenizer>> SpmTokenizer::LoadM2m100(
    const std::string& spm, const std::string& vocabulary, HfConfig config) {
  ASSIGN_OR_RETURN(config, Checked(std::move(config)));
  ASSIGN_OR_RETURN(const std::vector<std::string> languages,
                   LanguageTokens(config));
  for (const std::string& token : languages) {
    config.special.push_back({.content = token});
  }
  if (config.bos.empty()) config.special.push_back({.content = "<s>"});
  ASSIGN_OR_RETURN(Vocabulary tokens, Vocabulary::Load(vocabulary));
  for (const std::string& token : languages) {
    const absl::Status added = tokens.Add(token);
    if (!added.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(vocabulary, ": ", added.message()));
    }
  }
  ASSIGN_OR_RETURN(SharedSideModel both,
                   LoadSide(vocabulary, std::move(tokens), spm, config));
  return std::unique_ptr<SpmTokenizer>(
      new SpmTokenizer(std::move(config), both, both, {}));
}

}  // namespace attend
