#ifndef ATTEND_SERVER_DOCUMENTS_LANGUAGE_GROUPS_H_
#define ATTEND_SERVER_DOCUMENTS_LANGUAGE_GROUPS_H_

#include "absl/strings/string_view.h"
#include "server/documents/language_tag.h"

namespace attend {

// Returns true if `group` is a collection of languages of ISO 639-5 ("roa":
// Romance languages), or "mul", that `language` belongs to. The collections are
// those of which models exist; of a collection's languages the table has those
// with corpora of parallel texts. Models of OPUS-MT count French creoles as
// Romance, and so does the table.
bool IsInGroup(const LanguageTag& language, absl::string_view group);

// Returns true if `macro` is a macrolanguage of ISO 639-3 ("no") that
// `language`
// ("nn") is a member of, though it does not stand for the whole. Members that
// do are the macrolanguage to ReadLanguageTag().
bool IsMember(const LanguageTag& language, absl::string_view macro);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_LANGUAGE_GROUPS_H_
