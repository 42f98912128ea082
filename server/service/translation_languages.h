#ifndef ATTEND_SERVER_SERVICE_TRANSLATION_LANGUAGES_H_
#define ATTEND_SERVER_SERVICE_TRANSLATION_LANGUAGES_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/tokenizer/text/tokenizer.h"

namespace attend {

// How the languages of a translation reach a model.
struct TranslationLanguages {
  std::string of_documents;  // as the model spells it; "": not known
  // Of GenerateRequest, for models whose tokenizers have languages.
  std::string source, target;
  std::string prefix;  // of each source text: a Marian model's ">>deu<< "
};

// The languages of a request; see FindLanguage(). INVALID_ARGUMENT names the
// field and languages of the model, if the model has others; or says that the
// files of the model name no target language, so that the requested one may be
// another.
absl::StatusOr<TranslationLanguages> ChooseLanguages(
    const std::string& source, const std::string& target,
    const Tokenizer& tokenizer);

// The same for texts that are not cut into sentences: a language of the source
// is INVALID_ARGUMENT, too, if the files of the model name none.
absl::StatusOr<TranslationLanguages> ReadLanguages(const std::string& source,
                                                   const std::string& target,
                                                   const Tokenizer& tokenizer);

// Returns true for a model whose sources have to begin with the token of a
// target language (">>fra<<"), and whose files name no default.
bool NeedsTargetLanguage(const Tokenizer& tokenizer);

// The languages of a model as an error lists them: the first of many.
std::string NameLanguages(absl::Span<const std::string> all);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_TRANSLATION_LANGUAGES_H_
