#include "engine/tokenizer/text/tokenizer.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

absl::Status CheckUtf8(absl::string_view name, absl::string_view text) {
  const size_t invalid = FindInvalidUtf8(text);
  if (invalid == absl::string_view::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is not UTF-8 at byte ", invalid));
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

}  // namespace attend
