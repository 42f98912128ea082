#ifndef ATTEND_SERVER_DOCUMENTS_MARKDOWN_MARKS_H_
#define ATTEND_SERVER_DOCUMENTS_MARKDOWN_MARKS_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/documents/text_breaks.h"

namespace attend {

// What begins or ends between two texts of a block of Markdown.
struct MarkdownEvent {
  enum Kind {
    kEmphasis,
    kStrong,
    kStrikethrough,
    kLink,  // also an autolink: <https://example.com>
    kImage,
    kCode,
    kSoftBreak,  // a line break; the kinds of breaks begin only
    kHardBreak,
  };
  Kind kind = kEmphasis;
  bool begins = true;
};

// The bytes of `document` that the marks of `events` are, one after the other:
// "**", "[", "](url)", a line break with the prefix of the next line. The first
// one begins at `between.begin`. Together they have to be `between`, or all of
// it but a backslash at its end, which escapes what follows; or, if
// `open_ended`, any part of it. Nothing if they are not. `autolinks` says for
// each link that is open whether it is an autolink, and is updated.
std::optional<std::vector<TextRange>> FindMarks(
    absl::string_view document, absl::Span<const MarkdownEvent> events,
    TextRange between, bool open_ended, std::vector<bool>& autolinks);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKDOWN_MARKS_H_
