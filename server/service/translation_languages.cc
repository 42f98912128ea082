#include "server/service/translation_languages.h"

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/find_language.h"
#include "server/documents/text_breaks.h"
#include "server/service/request_fields.h"

namespace attend {
namespace {

// The language of a field as the model spells it. Where the files of a model
// name no languages, that of a source is only a hint for cutting sentences, but
// nobody knows which one the translation will have.
absl::StatusOr<std::string> Spell(const char* field, const std::string& code,
                                  Side side, const Tokenizer& tokenizer) {
  const std::vector<std::string> languages = tokenizer.languages(side);
  if (code.empty() || (languages.empty() && side == Side::kSource)) return code;
  if (languages.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s is '%s', must be empty: the model's files name no languages "
        "(tokenizer_config.json may: source_lang, target_lang)",
        field, absl::CHexEscape(code.substr(0, 100))));
  }
  std::string found = FindLanguage(code, languages);
  if (!found.empty()) return found;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is '%s', the model has %s", field,
      absl::CHexEscape(code.substr(0, 100)), NameLanguages(languages)));
}

// The token with which a Marian model of several targets is told one.
std::string MarkOf(absl::string_view language) {
  return absl::StrCat(">>", language, "<<");
}

}  // namespace

std::string NameLanguages(absl::Span<const std::string> all) {
  constexpr size_t kNamed = 8;
  return absl::StrCat(absl::StrJoin(all.subspan(0, kNamed), ", "),
                      all.size() > kNamed
                          ? absl::StrCat(" and ", all.size() - kNamed, " more")
                          : "");
}

absl::StatusOr<TranslationLanguages> ChooseLanguages(
    const std::string& source, const std::string& target,
    const Tokenizer& tokenizer) {
  TranslationLanguages chosen;
  ASSIGN_OR_RETURN(chosen.of_documents,
                   Spell("source_language", source, Side::kSource, tokenizer));
  ASSIGN_OR_RETURN(const std::string to,
                   Spell("target_language", target, Side::kTarget, tokenizer));
  if (tokenizer.LanguageId(chosen.of_documents).ok()) {
    chosen.source = chosen.of_documents;
  }
  // The sentences of a member of a group end as in its language.
  if (!source.empty() &&
      BaseLanguage(source) != BaseLanguage(chosen.of_documents)) {
    chosen.of_documents = source;
  }
  const std::string mark = MarkOf(to);
  if (tokenizer.LanguageId(to).ok()) {
    chosen.target = to;
  } else if (!to.empty() && tokenizer.TokenId(mark, Side::kSource) >= 0) {
    chosen.prefix = mark + " ";
  }
  if (chosen.of_documents.empty()) {
    const std::vector<std::string> all = tokenizer.languages(Side::kSource);
    if (all.size() == 1) chosen.of_documents = all.front();
  }
  return chosen;
}

bool NeedsTargetLanguage(const Tokenizer& tokenizer) {
  const std::vector<std::string> all = tokenizer.languages(Side::kTarget);
  return all.size() > 1 && !tokenizer.LanguageId(all.front()).ok() &&
         tokenizer.TokenId(MarkOf(all.front()), Side::kSource) >= 0;
}

absl::StatusOr<TranslationLanguages> ReadLanguages(const std::string& source,
                                                   const std::string& target,
                                                   const Tokenizer& tokenizer) {
  if (!source.empty() && tokenizer.languages(Side::kSource).empty()) {
    return Annotate(tokenizer.LanguageId(source).status(), "source_language");
  }
  return ChooseLanguages(source, target, tokenizer);
}

}  // namespace attend
