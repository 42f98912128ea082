#include "engine/tokenizer/gguf/unigram_json.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/spm/spm_file.h"
#include "engine/tokenizer/spm/spm_json.h"
#include "engine/tokenizer/spm/spm_normalizer.h"

namespace attend {
namespace {

constexpr int kMostExtraIds = 100;

// The classes of tokenizers can be nothing else.
absl::Status CheckFlags(const JsonFile& metadata, bool bos) {
  for (const auto& [name, expected] :
       {std::pair("add_space_prefix", true),
        std::pair("remove_extra_whitespaces", true),
        std::pair("add_bos_token", bos), std::pair("add_eos_token", true)}) {
    const std::string key = absl::StrCat("tokenizer.ggml.", name);
    ASSIGN_OR_RETURN(const bool value, metadata.BoolOr(key, expected));
    if (value != expected) {
      return metadata.Unexpected(key, expected ? "true" : "false");
    }
  }
  return absl::OkStatus();
}

// The pieces of SentencePiece's model: without the ids after them, which only
// the model has.
std::vector<SpmFile::Piece> PiecesOf(const GgufVocabulary& vocabulary) {
  size_t count = vocabulary.tokens.size();
  while (count > 0 &&
         vocabulary.type(count - 1) == GgufVocabulary::Type::kUnused) {
    --count;
  }
  std::vector<SpmFile::Piece> pieces(count);
  for (size_t id = 0; id < count; ++id) {
    // Both have SentencePiece's numbers of types.
    pieces[id] = {.text = vocabulary.tokens[id],
                  .score = vocabulary.scores[id],
                  .type = static_cast<SpmFile::Type>(vocabulary.type(id))};
  }
  return pieces;
}

// A file names <extra_id_0> and the like, or has unused ids instead of them.
int ExtraIds(const std::vector<SpmFile::Piece>& pieces, size_t unused) {
  const bool named = std::any_of(
      pieces.begin(), pieces.end(), [](const SpmFile::Piece& piece) {
        return absl::StartsWith(piece.text, "<extra_id_");
      });
  return named ? 0 : static_cast<int>(std::min<size_t>(unused, kMostExtraIds));
}

absl::StatusOr<std::string> Charsmap(const JsonFile& metadata) {
  constexpr char kKey[] = "tokenizer.ggml.precompiled_charsmap";
  if (!metadata.Has(kKey)) return std::string();
  ASSIGN_OR_RETURN(const std::vector<int> bytes,
                   metadata.Ints(kKey, {-128, 255}));
  std::string charsmap;
  for (const int byte : bytes) charsmap.push_back(static_cast<char>(byte));
  return charsmap;
}

// Reads the vocabulary of T5 and mT5.
void SetT5(const GgufVocabulary& vocabulary, SpmFile& file, HfConfig& config) {
  file.pieces = PiecesOf(vocabulary);
  config.tokenizer_class = "T5Tokenizer";
  config.extra_ids =
      ExtraIds(file.pieces, vocabulary.tokens.size() - file.pieces.size());
}

// Reads the vocabulary of XLM-RoBERTa. The file has the ids of transformers,
// which begin with "<s>", "<pad>", "</s>" and "<unk>" and end with "<mask>", or
// with a token without a name in its place; SentencePiece's model begins with
// "<unk>", "<s>" and "</s>", and has no mask.
absl::Status SetXlmRoberta(const JsonFile& metadata,
                           const GgufVocabulary& vocabulary, SpmFile& file,
                           HfConfig& config) {
  constexpr absl::string_view kFirst[] = {"<s>", "<pad>", "</s>", "<unk>"};
  const std::vector<std::string>& tokens = vocabulary.tokens;
  if (tokens.size() <= std::size(kFirst) ||
      !std::equal(std::begin(kFirst), std::end(kFirst), tokens.begin())) {
    return metadata.Unexpected("tokenizer.ggml.tokens",
                               "<s>, <pad>, </s> and <unk>, then others");
  }
  file.pieces = {{.text = "<unk>", .type = SpmFile::Type::kUnknown},
                 {.text = "<s>", .type = SpmFile::Type::kControl},
                 {.text = "</s>", .type = SpmFile::Type::kControl}};
  for (size_t id = std::size(kFirst); id + 1 < tokens.size(); ++id) {
    file.pieces.push_back(
        {.text = tokens[id],
         .score = vocabulary.scores[id],
         .type = static_cast<SpmFile::Type>(vocabulary.type(id))});
  }
  config.tokenizer_class = "XLMRobertaTokenizer";
  config.mask = "<mask>";
  config.special.push_back({.content = "<mask>", .lstrip = true});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> UnigramJson(const JsonFile& metadata,
                                        const GgufVocabulary& vocabulary,
                                        HfConfig& config) {
  constexpr char kArchitecture[] = "general.architecture";
  ASSIGN_OR_RETURN(const std::string architecture,
                   metadata.String(kArchitecture));
  const bool t5 = absl::StartsWith(architecture, "t5");
  if (!t5 && architecture != "bert") {
    return metadata.Unexpected(kArchitecture,
                               "t5 or bert for tokenizer.ggml.model t5");
  }
  RETURN_IF_ERROR(CheckFlags(metadata, /*bos=*/!t5));
  if (vocabulary.scores.empty()) {
    return metadata.Unexpected("tokenizer.ggml.scores",
                               "a score for each token");
  }
  SpmFile file;
  if (t5) {
    SetT5(vocabulary, file, config);
  } else {
    RETURN_IF_ERROR(SetXlmRoberta(metadata, vocabulary, file, config));
  }
  ASSIGN_OR_RETURN(file.charsmap, Charsmap(metadata));
  const std::string path = metadata.path() + ": tokenizer";
  RETURN_IF_ERROR(CheckSpmPieces(path, file));
  RETURN_IF_ERROR(SpmNormalizer::Create(path, file).status());
  return SpmToJson(path, file, config);
}

}  // namespace attend
