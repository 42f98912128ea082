#include "server/service/translation_languages.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "engine/tensor/status_macros.h"
#include "server/documents/text_breaks.h"

namespace attend {
namespace {

// The language of a field as the model spells it. A model whose files name no
// languages takes any.
absl::StatusOr<std::string> Spell(const char* field, const std::string& code,
                                  const std::vector<std::string>& languages) {
  if (code.empty() || languages.empty()) return code;
  std::string found = FindLanguage(code, languages);
  if (!found.empty()) return found;
  constexpr size_t kNamed = 8;
  const absl::Span<const std::string> all = languages;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is '%s', the model has %s%s", field,
      absl::CHexEscape(code.substr(0, 100)),
      absl::StrJoin(all.subspan(0, kNamed), ", "),
      all.size() > kNamed ? absl::StrCat(" and ", all.size() - kNamed, " more")
                          : ""));
}

}  // namespace

std::string FindLanguage(absl::string_view code,
                         const std::vector<std::string>& languages) {
  auto found = std::find(languages.begin(), languages.end(), code);
  const std::string base = BaseLanguage(code);
  if (found == languages.end() && !base.empty()) {
    found = std::find_if(languages.begin(), languages.end(),
                         [&](const std::string& language) {
                           return BaseLanguage(language) == base;
                         });
  }
  return found == languages.end() ? "" : *found;
}

absl::StatusOr<TranslationLanguages> ChooseLanguages(
    const std::string& source, const std::string& target,
    const Tokenizer& tokenizer) {
  const std::vector<std::string> sources = tokenizer.languages(Side::kSource);
  TranslationLanguages chosen;
  ASSIGN_OR_RETURN(chosen.of_documents,
                   Spell("source_language", source, sources));
  ASSIGN_OR_RETURN(
      const std::string to,
      Spell("target_language", target, tokenizer.languages(Side::kTarget)));
  if (tokenizer.LanguageId(chosen.of_documents).ok()) {
    chosen.source = chosen.of_documents;
  }
  const std::string token = absl::StrCat(">>", to, "<<");
  if (tokenizer.LanguageId(to).ok()) {
    chosen.target = to;
  } else if (!to.empty() && tokenizer.TokenId(token, Side::kSource) >= 0) {
    chosen.prefix = token + " ";
  }
  if (chosen.of_documents.empty() && sources.size() == 1) {
    chosen.of_documents = sources.front();
  }
  return chosen;
}

}  // namespace attend
