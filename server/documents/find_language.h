#ifndef ATTEND_SERVER_DOCUMENTS_FIND_LANGUAGE_H_
#define ATTEND_SERVER_DOCUMENTS_FIND_LANGUAGE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// Returns the one of `languages`, the codes of a model, that `code` means;
// empty: none. In this order:
// * the one that is spelled so;
// * the same language in the same script, by BCP 47 and CLDR's likely subtags:
//   "eng_Latn" for "en", "zho_Hant" for "zh-TW", "arb_Arab" for "ar". Of
//   several the one of the same region, or of none;
// * a member of a macrolanguage in the same script, if there is one: "nno_Latn"
//   for "no" where there is no other Norwegian;
// * the same language in another script, if there is one;
// * a collection of languages (ISO 639-5) that the language belongs to: "roa"
//   for "fr". Thread-safe.
std::string FindLanguage(absl::string_view code,
                         const std::vector<std::string>& languages);

// Returns true if both codes mean the same language in the same script, and not
// in different regions that they name.
bool SameLanguage(absl::string_view a, absl::string_view b);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_FIND_LANGUAGE_H_
