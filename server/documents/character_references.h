#ifndef ATTEND_SERVER_DOCUMENTS_CHARACTER_REFERENCES_H_
#define ATTEND_SERVER_DOCUMENTS_CHARACTER_REFERENCES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "server/documents/markup_lexer.h"

namespace attend {

// What a text begins with.
struct CharacterReference {
  int length = 0;              // bytes of the reference; 0: there is none
  std::string character = {};  // UTF-8; empty: the document defines it
};

// The reference that `text`, which begins with '&', begins with: "&amp;",
// "&#228;", "&#xe4;". HTML has the names of its standard's section 13.5, of
// which some need no semicolon ("&copy 2024", "&notit;"), XML five names. A
// semicolon that is absent after a number, or after a name of XML, is read as
// if it were there. Other names with a semicolon, and numbers that are no
// character, count as defined by the document.
CharacterReference ReadReference(absl::string_view text, MarkupKind kind);

// Appends a text with references for '&', '<', '>' and the characters of
// `others`: '"', '\'', '=', '`' and white space, which end an attribute's
// value.
void AppendEscaped(absl::string_view text, std::string& to,
                   absl::string_view others = "");

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_CHARACTER_REFERENCES_H_
