#include "engine/tokenizer/load_tokenizer.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/json/json_parse.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/hf/hf_tokenizer.h"
#include "engine/tokenizer/spm/spm_json.h"
#include "engine/tokenizer/spm/spm_normalizer.h"
#include "engine/tokenizer/spm/spm_tokenizer.h"
#include "engine/tokenizer/text/ids_only.h"

namespace attend {
namespace {

bool Has(const std::string& directory, const char* file) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(directory) / file,
                                 ignored);
}

// The pieces of a SentencePiece model that transformers finds in texts before
// it cuts them.
std::vector<HfConfig::Token> AddedPieces(const SpmFile& spm) {
  std::vector<HfConfig::Token> pieces;
  for (const SpmFile::Piece& piece : spm.pieces) {
    const bool control = piece.type == SpmFile::Type::kControl;
    if (control || piece.type == SpmFile::Type::kUserDefined) {
      pieces.push_back({.content = piece.text, .special = control});
    }
  }
  return pieces;
}

// Of a directory that has a SentencePiece model for all text in `file`.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadSpm(
    const std::string& directory, const char* file,
    const TokenizerSettings& settings = {}) {
  const std::string path = absl::StrCat(directory, "/", file);
  ASSIGN_OR_RETURN(HfConfig config, LoadHfConfig(directory));
  if (config.tokenizer_class == "M2M100Tokenizer") {
    return SpmTokenizer::LoadM2m100(path, directory + "/vocab.json",
                                    std::move(config));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  ASSIGN_OR_RETURN(const SpmFile spm, ParseSpmFile(path, bytes));
  RETURN_IF_ERROR(SpmNormalizer::Create(path, spm).status());
  ASSIGN_OR_RETURN(config, LoadHfConfig(directory, AddedPieces(spm)));
  config.extra = settings;
  ASSIGN_OR_RETURN(const std::string json, SpmToJson(path, spm, config));
  // The class makes the rest of the vocabulary, as from a tokenizer.json.
  ASSIGN_OR_RETURN(nlohmann::json top, ParseJsonObject(path, json));
  top["added_tokens"] = nlohmann::json::array();
  top["post_processor"] = nullptr;
  return HfTokenizer::CreateOfClass(path, top.dump(), std::move(config));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(
    const std::string& directory, const TokenizerSettings& settings) {
  const auto has = [&](const char* file) { return Has(directory, file); };
  constexpr char kPieces[] = "sentencepiece.bpe.model";
  if (has("source.spm")) return SpmTokenizer::LoadMarian(directory);
  if (has("tokenizer.json") && has(kPieces) && has("vocab.json")) {
    // M2M100's class of transformers has no use for a tokenizer.json.
    ASSIGN_OR_RETURN(const HfConfig config, LoadHfConfig(directory));
    if (config.tokenizer_class == "M2M100Tokenizer") {
      return LoadSpm(directory, kPieces);
    }
  }
  if (has("tokenizer.json")) {
    return HfTokenizer::Load(directory, settings);
  }
  for (const char* file : {"spiece.model", kPieces}) {
    if (has(file)) return LoadSpm(directory, file, settings);
  }
  if (has("target.spm") || has("vocab.json")) {
    return SpmTokenizer::LoadMarian(directory);
  }
  return std::make_unique<IdsOnly>();
}

}  // namespace attend
