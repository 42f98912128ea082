#include "server/documents/element_tree.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "server/documents/open_elements.h"

namespace attend {

absl::Status TooMuchMarkup() {
  return absl::InvalidArgumentError(absl::StrFormat(
      "has more than %d tags, comments and objects", kMostMarkup));
}

absl::StatusOr<ElementTree> ReadElements(absl::string_view document,
                                         MarkupKind kind, int begin) {
  MarkupLexer lexer(document, kind, begin);
  ElementTree tree;
  OpenElements open(kind, tree.last);
  int markup = 0;
  for (MarkupToken token; lexer.Next(token);) {
    markup += token.kind != MarkupToken::kText;
    if (markup > kMostMarkup) return TooMuchMarkup();
    const int index = static_cast<int>(tree.tokens.size());
    tree.last.push_back(index);
    const bool closes = token.kind == MarkupToken::kClose;
    const bool before = open.translated();
    open.Add(token, index);
    tree.translated.push_back(closes ? before : open.translated());
    tree.apart.push_back(kind == MarkupKind::kHtml && !open.translated() &&
                         token.kind == MarkupToken::kText &&
                         open.in_kept_block());
    tree.follows.push_back(open.follows());
    if (!open.translates_attributes()) token.texts.clear();
    lexer.set_foreign(open.in_foreign());
    tree.tokens.push_back(std::move(token));
  }
  open.CloseAll(static_cast<int>(tree.tokens.size()));
  return tree;
}

}  // namespace attend
