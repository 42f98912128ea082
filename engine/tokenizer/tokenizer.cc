#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/hf_tokenizer.h"
#include "engine/tokenizer/ids_only.h"
#include "engine/tokenizer/marian_tokenizer.h"
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

// Whether any file is there that belongs to a tokenizer and to nothing else.
bool HasTokenizer(const std::string& directory) {
  constexpr const char* kFiles[] = {"tokenizer.json", "source.spm",
                                    "target.spm", "vocab.json"};
  return std::any_of(std::begin(kFiles), std::end(kFiles),
                     [&](const char* file) { return Has(directory, file); });
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
  if (!HasTokenizer(directory)) return std::make_unique<IdsOnly>(directory);
  if (!Has(directory, "source.spm") && Has(directory, "tokenizer.json")) {
    return HfTokenizer::Load(directory);
  }
  return MarianTokenizer::Load(directory);
}

}  // namespace attend
