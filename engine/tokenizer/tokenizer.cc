#include "engine/tokenizer/tokenizer.h"

#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/hf_tokenizer.h"
#include "engine/tokenizer/ids_only.h"
#include "engine/tokenizer/read_file.h"
#include "engine/tokenizer/spm_json.h"
#include "engine/tokenizer/spm_normalizer.h"
#include "engine/tokenizer/spm_tokenizer.h"
#include "engine/tokenizer/utf8.h"

namespace attend {
namespace {

absl::Status CheckUtf8(absl::string_view name, absl::string_view text) {
  const size_t invalid = FindInvalidUtf8(text);
  if (invalid == absl::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is not UTF-8 at byte ", invalid));
}

bool Has(const std::string& directory, const char* file) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(directory) / file,
                                 ignored);
}

// Of a directory that has a SentencePiece model for all text in `file`.
absl::StatusOr<std::unique_ptr<Tokenizer>> LoadSpm(const std::string& directory,
                                                   const char* file) {
  const std::string path = absl::StrCat(directory, "/", file);
  ASSIGN_OR_RETURN(HfConfig config, LoadHfConfig(directory));
  if (config.tokenizer_class == "M2M100Tokenizer") {
    return SpmTokenizer::LoadM2m100(path, directory + "/vocab.json",
                                    std::move(config));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  ASSIGN_OR_RETURN(const SpmFile spm, ParseSpmFile(path, bytes));
  RETURN_IF_ERROR(SpmNormalizer::Create(path, spm).status());
  ASSIGN_OR_RETURN(const std::string json, SpmToJson(path, spm, config));
  return HfTokenizer::Create(path, json, std::move(config));
}

}  // namespace

absl::Status CheckTexts(const EncodeInput& input) {
  RETURN_IF_ERROR(CheckUtf8("text", input.text));
  return CheckUtf8("pair", input.pair.value_or(""));
}

absl::StatusOr<int> Tokenizer::LanguageId(absl::string_view language) const {
  return absl::InvalidArgumentError(
      absl::StrCat("language is \"", language,
                   "\", but the model's tokenizer has no languages"));
}

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(
    const std::string& directory) {
  const auto has = [&](const char* file) { return Has(directory, file); };
  if (has("source.spm")) return SpmTokenizer::LoadMarian(directory);
  if (has("tokenizer.json")) return HfTokenizer::Load(directory);
  for (const char* file : {"spiece.model", "sentencepiece.bpe.model"}) {
    if (has(file)) return LoadSpm(directory, file);
  }
  if (has("target.spm") || has("vocab.json")) {
    return SpmTokenizer::LoadMarian(directory);
  }
  return std::make_unique<IdsOnly>(directory);
}

}  // namespace attend
