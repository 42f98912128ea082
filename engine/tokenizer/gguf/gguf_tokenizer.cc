#include "engine/tokenizer/gguf/gguf_tokenizer.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/checkpoint/gguf/tokens/gguf_end_tokens.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/gguf/byte_level_json.h"
#include "engine/tokenizer/gguf/gguf_vocabulary.h"
#include "engine/tokenizer/gguf/piece_json.h"
#include "engine/tokenizer/gguf/unigram_json.h"
#include "engine/tokenizer/gguf/word_piece_json.h"
#include "engine/tokenizer/hf/hf_tokenizer.h"
#include "engine/tokenizer/text/ids_only.h"

namespace attend {
namespace {

absl::StatusOr<PieceSpaces> SpacesOf(const JsonFile& metadata) {
  ASSIGN_OR_RETURN(const std::string architecture,
                   metadata.StringOr("general.architecture", ""));
  if (architecture == "phi3") return PieceSpaces::kPrepend;
  if (absl::StartsWith(architecture, "gemma")) return PieceSpaces::kNone;
  return PieceSpaces::kFirst;
}

// As text.
absl::StatusOr<std::string> TokenizerJson(const JsonFile& metadata,
                                          const GgufVocabulary& vocabulary,
                                          HfConfig& config) {
  nlohmann::json json;
  if (vocabulary.model == "gpt2") {
    ASSIGN_OR_RETURN(json, ByteLevelJson(metadata, vocabulary));
  } else if (vocabulary.model == "llama") {
    ASSIGN_OR_RETURN(const PieceSpaces spaces, SpacesOf(metadata));
    ASSIGN_OR_RETURN(json, PieceJson(metadata, vocabulary, spaces));
  } else if (vocabulary.model == "bert") {
    ASSIGN_OR_RETURN(json, WordPieceJson(metadata, vocabulary));
  } else if (vocabulary.model == "t5") {
    return UnigramJson(metadata, vocabulary, config);
  } else {
    return metadata.Unexpected("tokenizer.ggml.model",
                               "gpt2, llama, bert, t5 or none");
  }
  return json.dump();
}

}  // namespace

absl::StatusOr<GgufTokenizer> LoadGgufTokenizer(const JsonFile& metadata) {
  ASSIGN_OR_RETURN(const std::string model,
                   metadata.StringOr("tokenizer.ggml.model", "none"));
  if (model == "none") return GgufTokenizer{std::make_unique<IdsOnly>(), {}};
  ASSIGN_OR_RETURN(GgufVocabulary vocabulary, ReadGgufVocabulary(metadata));
  if (vocabulary.model == "bert") SpellAsWordPieces(vocabulary);
  HfConfig config = HfConfigOf(vocabulary);
  ASSIGN_OR_RETURN(const std::vector<int> ends,
                   GgufEndTokens(metadata, vocabulary.tokens.size()));
  // Some files give them the type of a word.
  for (const int id : ends) {
    config.special.push_back({.content = vocabulary.tokens[id]});
  }
  ASSIGN_OR_RETURN(const std::string json,
                   TokenizerJson(metadata, vocabulary, config));
  ASSIGN_OR_RETURN(
      std::unique_ptr<Tokenizer> tokenizer,
      HfTokenizer::Create(metadata.path() + ": tokenizer", json, config));
  return GgufTokenizer{std::move(tokenizer), std::move(config)};
}

absl::StatusOr<std::unique_ptr<ChatTemplate>> LoadGgufChat(
    const JsonFile& metadata, const HfConfig& config) {
  const std::string key = "tokenizer.chat_template";
  std::vector<ChatTemplate::Named> templates;
  const auto add = [&](const std::string& name,
                       const std::string& from) -> absl::Status {
    ASSIGN_OR_RETURN(std::string source, metadata.String(from));
    templates.push_back({.name = name,
                         .file = metadata.path(),
                         .key = from,
                         .source = std::move(source)});
    return absl::OkStatus();
  };
  if (metadata.Has(key)) {
    absl::Status added = add("default", key);
    if (!added.ok()) return ChatTemplate::Refused(std::move(added));
  }
  if (metadata.Has("tokenizer.chat_templates")) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names,
                     metadata.Strings("tokenizer.chat_templates"));
    for (const std::string& name : names) {
      RETURN_IF_ERROR(add(name, absl::StrCat(key, ".", name)));
    }
  }
  return ChatTemplate::Create(templates, config);
}

}  // namespace attend
