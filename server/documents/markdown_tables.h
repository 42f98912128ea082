#ifndef ATTEND_SERVER_DOCUMENTS_MARKDOWN_TABLES_H_
#define ATTEND_SERVER_DOCUMENTS_MARKDOWN_TABLES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// Puts an empty line before each table that follows a line of a paragraph, as
// GitHub reads it: md4c takes such a table for a part of the paragraph.
class MarkdownTables {
 public:
  // The text with these lines.
  std::string Divide(absl::string_view text);
  // Where byte `at` of the last divided text is in the text that it was made
  // of.
  int SourceOf(int at) const;

 private:
  std::vector<int> added_;  // places of the empty lines in the divided text
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKDOWN_TABLES_H_
