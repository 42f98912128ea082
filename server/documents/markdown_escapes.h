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

// Code between backticks in one line. Line breaks, with the marks of quotations
// behind them, become spaces, as which CommonMark reads them.
std::string InOneLine(absl::string_view code);

// Returns true for a comment or a tag that makes a block of HTML of a line that
// it begins, and may be inside of a paragraph.
bool BeginsHtmlBlock(absl::string_view raw);

// Whether only marks of containers (quotations, lists) are between a place in a
// document and the begin of its line.
bool BeginsMarkdownLine(absl::string_view document, int at);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKDOWN_ESCAPES_H_
