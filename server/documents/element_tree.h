#ifndef ATTEND_SERVER_DOCUMENTS_ELEMENT_TREE_H_
#define ATTEND_SERVER_DOCUMENTS_ELEMENT_TREE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/documents/markup_lexer.h"

namespace attend {

// Maximum number of tags, comments and objects of a document. They take more
// memory than text.
inline constexpr int kMostMarkup = 1 << 18;

// The tokens of a marked-up document and the elements that they make. Immutable
// once it is read.
struct ElementTree {
  std::vector<MarkupToken> tokens;
  // By token: the last token of the element that a start tag opens: its end
  // tag, or the token before the one that implies the end. Other tokens:
  // itself.
  std::vector<int> last;
  // By token: its text is translated. A tag counts as inside of its element.
  std::vector<bool> translated;
  // By token: it is a text that is not translated, in a block of HTML that is
  // not: what is translated there is a text of its own.
  std::vector<bool> apart;
  // By token: a start tag that implies the end of an element of the same name.
  std::vector<bool> follows;
};

// Reads a document from byte `begin` on.
// INVALID_ARGUMENT if there is more markup than kMostMarkup. `document` must
// have fewer than 2^31 bytes. Takes time in proportion to the document.
absl::StatusOr<ElementTree> ReadElements(absl::string_view document,
                                         MarkupKind kind, int begin = 0);

// The error for a document with more than kMostMarkup.
absl::Status TooMuchMarkup();

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_ELEMENT_TREE_H_
