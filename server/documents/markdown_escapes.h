#ifndef ATTEND_SERVER_DOCUMENTS_MARKDOWN_ESCAPES_H_
#define ATTEND_SERVER_DOCUMENTS_MARKDOWN_ESCAPES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// Where a text of Markdown is to stand.
struct MarkdownPlace {
  char before = ' ';         // the byte before it; a space: a line begins
  char after = ' ';          // the byte after it
  bool begins_line = false;  // only marks of containers are before it
  bool is_cell = false;      // of a table
};

// Appends a text so that CommonMark reads it as it is: with a backslash before
// what would be markup there, and not before what would not ("2 * 3",
// "snake_case", "[1]"). Line breaks become spaces.
void AppendMarkdown(absl::string_view text, const MarkdownPlace& place,
                    std::string& to);

// Whether only marks of containers (quotations, lists) are between a place in a
// document and the begin of its line.
bool BeginsMarkdownLine(absl::string_view document, int at);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKDOWN_ESCAPES_H_
