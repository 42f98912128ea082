#include "engine/tokenizer/gguf/word_piece_json.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

using Json = nlohmann::json;
using Type = GgufVocabulary::Type;

constexpr char kContinues[] = "##";

// A token is named by the key `key`, or has the spelling that BERT has.
struct Role {
  int id;
  const char* key;
  absl::string_view spelling;
};

absl::StatusOr<std::string> TokenOf(const JsonFile& metadata,
                                    const GgufVocabulary& vocabulary,
                                    const Role& role) {
  if (role.id >= 0) return vocabulary.tokens[role.id];
  const auto& tokens = vocabulary.tokens;
  if (std::find(tokens.begin(), tokens.end(), role.spelling) != tokens.end()) {
    return std::string(role.spelling);
  }
  return metadata.Unexpected(
      absl::StrCat("tokenizer.ggml.", role.key),
      absl::StrCat("the id of a token, for there is no ", role.spelling));
}

bool HasCapitals(const GgufVocabulary& vocabulary) {
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    const bool special = absl::StartsWith(token, "[");  // [UNK]
    if (special || vocabulary.type(id) != Type::kNormal) continue;
    if (std::any_of(token.begin(), token.end(), absl::ascii_isupper)) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<Json> NormalizerJson(const JsonFile& metadata,
                                    const GgufVocabulary& vocabulary) {
  const std::string prefix = "tokenizer.ggml.normalizer.";
  ASSIGN_OR_RETURN(
      const bool lowercase,
      metadata.BoolOr(prefix + "lowercase", !HasCapitals(vocabulary)));
  ASSIGN_OR_RETURN(const bool strips,
                   metadata.BoolOr(prefix + "strip_accents", lowercase));
  return Json{{"type", "BertNormalizer"},
              {"clean_text", true},
              {"handle_chinese_chars", true},
              {"strip_accents", strips},
              {"lowercase", lowercase}};
}

// [CLS] A [SEP], or [CLS] A [SEP] B [SEP], where B and what follows are of type
// 1.
absl::StatusOr<Json> FrameJson(const JsonFile& metadata,
                               const GgufVocabulary& vocabulary) {
  const int cls_id = vocabulary.cls >= 0 ? vocabulary.cls : vocabulary.bos;
  const int sep_id = vocabulary.sep >= 0 ? vocabulary.sep : vocabulary.eos;
  ASSIGN_OR_RETURN(
      const std::string cls,
      TokenOf(metadata, vocabulary, {cls_id, "cls_token_id", "[CLS]"}));
  ASSIGN_OR_RETURN(
      const std::string sep,
      TokenOf(metadata, vocabulary, {sep_id, "seperator_token_id", "[SEP]"}));
  const auto part = [](const char* kind, const std::string& id, int type) {
    return Json{{kind, {{"id", id}, {"type_id", type}}}};
  };
  Json single = {part("SpecialToken", cls, 0), part("Sequence", "A", 0),
                 part("SpecialToken", sep, 0)};
  Json pair = single;
  pair.push_back(part("Sequence", "B", 1));
  pair.push_back(part("SpecialToken", sep, 1));
  Json special = Json::object();
  for (const std::string& token : {cls, sep}) {
    const auto found =
        std::find(vocabulary.tokens.begin(), vocabulary.tokens.end(), token);
    special[token] = {{"id", token},
                      {"ids", {found - vocabulary.tokens.begin()}},
                      {"tokens", {token}}};
  }
  return Json{{"type", "TemplateProcessing"},
              {"single", std::move(single)},
              {"pair", std::move(pair)},
              {"special_tokens", std::move(special)}};
}

}  // namespace

void SpellAsWordPieces(GgufVocabulary& vocabulary) {
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    std::string& token = vocabulary.tokens[id];
    const Type type = vocabulary.type(id);
    // No word is empty: the mark alone continues one.
    if (absl::StartsWith(token, kSpaceMark) && token != kSpaceMark) {
      token.erase(0, kSpaceMark.size());
    } else if (type == Type::kNormal || type == Type::kUnused) {
      token.insert(0, kContinues);
    }
  }
}

absl::StatusOr<Json> WordPieceJson(const JsonFile& metadata,
                                   const GgufVocabulary& vocabulary) {
  ASSIGN_OR_RETURN(Json normalizer, NormalizerJson(metadata, vocabulary));
  ASSIGN_OR_RETURN(Json frame, FrameJson(metadata, vocabulary));
  ASSIGN_OR_RETURN(std::string unknown,
                   TokenOf(metadata, vocabulary,
                           {vocabulary.unknown, "unknown_token_id", "[UNK]"}));
  Json vocab = Json::object();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    // Ids that the model has and the tokenizer has not.
    if (vocabulary.type(id) == Type::kUnused) continue;
    vocab[vocabulary.tokens[id]] = id;
  }
  return Json{
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", AddedTokensJson(vocabulary)},
      {"normalizer", std::move(normalizer)},
      {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
      {"post_processor", std::move(frame)},
      {"decoder",
       {{"type", "WordPiece"}, {"prefix", kContinues}, {"cleanup", true}}},
      {"model",
       {{"type", "WordPiece"},
        {"unk_token", std::move(unknown)},
        {"continuing_subword_prefix", kContinues},
        {"max_input_chars_per_word", 100},
        {"vocab", std::move(vocab)}}}};
}

}  // namespace attend
