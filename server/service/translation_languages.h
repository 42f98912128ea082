#ifndef ATTEND_SERVER_SERVICE_TRANSLATION_LANGUAGES_H_
#define ATTEND_SERVER_SERVICE_TRANSLATION_LANGUAGES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// How the languages of a translation reach a model.
struct TranslationLanguages {
  std::string of_documents;  // as the model spells it; "": not known
  // Of GenerateRequest, for models whose tokenizers have languages.
  std::string source, target;
  std::string prefix;  // of each source: a Marian model's ">>deu<< "
};

// The languages of a request. INVALID_ARGUMENT names the field and languages of
// the model, if the model has others.
absl::StatusOr<TranslationLanguages> ChooseLanguages(
    const std::string& source, const std::string& target,
    const Tokenizer& tokenizer);

// Which of `languages` is meant by `code`: the one that is spelled so, else the
// first one that is the same language ("en": "eng_Latn"). Empty: none.
std::string FindLanguage(absl::string_view code,
                         const std::vector<std::string>& languages);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_TRANSLATION_LANGUAGES_H_
