#ifndef ATTEND_SERVER_DOCUMENTS_LANGUAGE_TAG_H_
#define ATTEND_SERVER_DOCUMENTS_LANGUAGE_TAG_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The subtags of a code of a language (BCP 47, RFC 5646), as ICU's data of CLDR
// reads them.
struct LanguageTag {
  // ISO 639 in the fewest letters: "de" of "deu", but "cmn" of "cmn".
  std::string language;
  // The language after CLDR's replacements, and those of this server: "he" of
  // "iw", "zh" of "cmn", "ar" of "arb", "no" of "nb". Codes that mean the same
  // language have the same one.
  std::string canonical;
  // Of the code, or of the code that replaces it ("Latn" of "sh"), or what the
  // region implies ("Hant" of "zh-TW"), or the likely one ("Latn" of "en");
  // empty: unknown.
  std::string script;
  // Of the code, or of the code that replaces it; empty: none.
  std::string region;
  std::string likely_region;  // `region`, or the likely one; empty: unknown
};

// Reads a code as models, clients and operating systems spell it: "en", "eng",
// "eng_Latn", "en_XX", "zh-TW", "zh_Hant_HK", "de_DE.UTF-8", "sr@latin".
// nullopt if the text is no such code. Thread-safe.
std::optional<LanguageTag> ReadLanguageTag(absl::string_view code);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LANGUAGE_TAG_H_
