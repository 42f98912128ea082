#ifndef ATTEND_SERVER_DOCUMENTS_HTML_ELEMENTS_H_
#define ATTEND_SERVER_DOCUMENTS_HTML_ELEMENTS_H_

#include "absl/strings/string_view.h"

namespace attend {

// Elements of HTML (the HTML standard, sections 4 and 13.1), by their names in
// lower case.

// It has no content and no end tag: br, img.
bool IsVoidElement(absl::string_view name);
// It is of another vocabulary: <svg/> has an end of its own.
bool IsForeignElement(absl::string_view name);
// Its content has no tags: script, style.
bool IsRawTextElement(absl::string_view name);
// It stands for itself, and none of its text is translated: code, pre.
bool IsUntranslatedElement(absl::string_view name);
// A sentence ends where it begins or ends: p, td, br. Elements that the
// standard does not know are part of the text around them.
bool IsBlockElement(absl::string_view name);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_HTML_ELEMENTS_H_
