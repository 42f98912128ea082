#include "engine/families/shared/token_modules.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/families/shared/config_fields.h"
#include "engine/families/shared/encoder_heads.h"
#include "engine/families/shared/sentence_modules.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr IntRange kTokens = {1, kPositions.max};

// PyLate's name of these models. Its directories do not list the mask and the
// length of 1.
absl::StatusOr<bool> IsPylate(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string type, config.StringOr("model_type", ""));
  return type == "ColBERT";
}

absl::Status ReadMask(const JsonFile& config, Family& family) {
  if (config.Has("skiplist_words")) {
    ASSIGN_OR_RETURN(family.token_vectors.skipped,
                     config.Strings("skiplist_words"));
  }
  if (config.Has("skiplist_tasks")) {
    ASSIGN_OR_RETURN(const std::vector<std::string> tasks,
                     config.Strings("skiplist_tasks"));
    if (tasks != std::vector<std::string>{"document"}) {
      return config.Unexpected("skiplist_tasks", "document");
    }
  }
  return config.ExpectNeutral("keep_only_token_ids", 0);
}

absl::Status AddTokenModule(const std::string& directory,
                            const SentenceModule& module, Family& family) {
  ASSIGN_OR_RETURN(const JsonFile config,
                   JsonFile::LoadOrEmpty(absl::StrCat(
                       directory, "/", module.folder, "/config.json")));
  if (module.type == "Dense") {
    return AddDense(config, module.folder, Feature::kTokens, family);
  }
  if (module.type == "Normalize") {
    return AddNormalize(config, Feature::kTokens, family.spec);
  }
  if (module.type == "MultiVectorMask") return ReadMask(config, family);
  return module.Unexpected(
      "a Transformer, then any number of Dense, MultiVectorMask, Normalize, in "
      "a model that compares tokens");
}

// Queries are filled up to a number of tokens, or to at least that.
absl::Status ReadExpansion(const JsonFile& expansion,
                           TokenVectorsWords& vectors) {
  ASSIGN_OR_RETURN(vectors.expanded_tokens,
                   Number(expansion, {"length"}, kTokens));
  ASSIGN_OR_RETURN(vectors.expansion_attended,
                   expansion.BoolOr("attend", false));
  ASSIGN_OR_RETURN(vectors.expansion_token, expansion.StringOr("token", ""));
  ASSIGN_OR_RETURN(const std::string strategy, expansion.String("strategy"));
  if (strategy == "fixed") {
    vectors.query_tokens = vectors.expanded_tokens;
  } else if (strategy != "min") {
    return expansion.Unexpected("strategy", "fixed or min");
  } else if (vectors.query_tokens > 0) {
    vectors.query_tokens =
        std::max(vectors.query_tokens, vectors.expanded_tokens);
  }
  return absl::OkStatus();
}

absl::Status ReadLengths(const JsonFile& config, TokenVectorsWords& vectors) {
  ASSIGN_OR_RETURN(
      vectors.query_tokens,
      NumberOr(config, "query_length", vectors.query_tokens, kTokens));
  ASSIGN_OR_RETURN(
      vectors.document_tokens,
      NumberOr(config, "document_length", vectors.document_tokens, kTokens));
  return absl::OkStatus();
}

// The fields of PyLate, which fills queries up by default.
absl::Status ReadPylate(const JsonFile& config, Family& family) {
  TokenVectorsWords& vectors = family.token_vectors;
  const struct {
    const char* prefix;
    const char* prompt;
  } prefixes[] = {{"query_prefix", "query"}, {"document_prefix", "document"}};
  for (const auto& [key, name] : prefixes) {
    if (!config.Has(key)) continue;
    ASSIGN_OR_RETURN(const std::string prefix, config.String(key));
    std::string& prompt = family.prompts[name];
    if (prompt.compare(0, prefix.size(), prefix) != 0) prompt = prefix + prompt;
    // The vocabulary has it with or without the space at its end.
    family.prefixes.push_back(prefix);
    family.prefixes.push_back(prefix.substr(0, prefix.find(' ')));
  }
  ASSIGN_OR_RETURN(const bool expands,
                   config.BoolOr("do_query_expansion", true));
  if (!expands) return absl::OkStatus();
  vectors.expanded_tokens =
      vectors.query_tokens > 0 ? vectors.query_tokens : 32;
  vectors.query_tokens = vectors.expanded_tokens;
  ASSIGN_OR_RETURN(vectors.expansion_attended,
                   config.BoolOr("attend_to_expansion_tokens", false));
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> Punctuation() {
  std::vector<std::string> words;
  words.reserve(32);
  for (const char c : absl::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")) {
    words.push_back(std::string(1, c));
  }
  return words;
}

absl::StatusOr<bool> ComparesTokens(const JsonFile& config) {
  ASSIGN_OR_RETURN(const std::string type, config.StringOr("model_type", ""));
  return type == "MultiVectorEncoder" || type == "ColBERT";
}

absl::Status ReadTokenModules(const std::string& directory,
                              const std::vector<SentenceModule>& modules,
                              const JsonFile& config, Family& family) {
  DropHead(family);
  family.spec.embed.pooled = false;
  family.spec.embed.tokens.emplace();
  for (size_t i = 1; i < modules.size(); ++i) {
    RETURN_IF_ERROR(AddTokenModule(directory, modules[i], family));
  }
  ASSIGN_OR_RETURN(const bool pylate, IsPylate(config));
  if (!pylate) return absl::OkStatus();
  family.token_vectors.skipped = Punctuation();
  RETURN_IF_ERROR(ReadMask(config, family));
  ASSIGN_OR_RETURN(const JsonFile no_fields,
                   JsonFile::Parse(config.path(), "{}"));
  return AddNormalize(no_fields, Feature::kTokens, family.spec);
}

absl::Status ReadTokenVectors(const JsonFile& config,
                              const std::string& transformer, Family& family) {
  TokenVectorsWords& vectors = family.token_vectors;
  ASSIGN_OR_RETURN(
      const JsonFile settings,
      JsonFile::LoadOrEmpty(transformer + "/sentence_bert_config.json"));
  RETURN_IF_ERROR(ReadLengths(config, vectors));
  RETURN_IF_ERROR(ReadLengths(settings, vectors));
  for (const JsonFile& file : {settings, config}) {
    if (!file.Has("query_expansion")) continue;
    ASSIGN_OR_RETURN(const JsonFile expansion, file.Object("query_expansion"));
    return ReadExpansion(expansion, vectors);
  }
  ASSIGN_OR_RETURN(const bool pylate, IsPylate(config));
  return pylate ? ReadPylate(config, family) : absl::OkStatus();
}

}  // namespace attend
