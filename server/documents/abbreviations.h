#ifndef ATTEND_SERVER_DOCUMENTS_ABBREVIATIONS_H_
#define ATTEND_SERVER_DOCUMENTS_ABBREVIATIONS_H_

#include "absl/strings/string_view.h"

namespace attend {

// Whether a text ends with an abbreviation after which a sentence goes on:
// "Mr.", "e.g.", "z. B.". `language` is a BaseLanguage(). The abbreviations are
// those of ICU's data (CLDR's suppressions) and some that it lacks.
bool EndsWithAbbreviation(absl::string_view text, absl::string_view language);

// Whether a text ends with an abbreviation after which a sentence may end, too:
// "etc.", "p.m.".
bool MayEndSentence(absl::string_view text);

// Whether the first word of a text begins a sentence, if what is before it may
// end one: "He" of "At 5 p.m. He came". False in languages without such words.
bool BeginsSentence(absl::string_view text, absl::string_view language);

// Whether abbreviations of a language are known.
bool HasAbbreviations(absl::string_view language);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_ABBREVIATIONS_H_
