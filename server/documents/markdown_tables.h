#ifndef ATTEND_SERVER_DOCUMENTS_MARKDOWN_TABLES_H_
#define ATTEND_SERVER_DOCUMENTS_MARKDOWN_TABLES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// Makes md4c read tables as GitHub does. Puts an empty line before each table
// that follows a line of a paragraph, which md4c takes for a part of it, and
// more hyphens under the head ("|-|:-|"), where md4c wants three characters.
class MarkdownTables {
 public:
  // The text with these lines and hyphens.
  std::string Divide(absl::string_view text);
  // Where byte `at` of the last divided text is in the text that it was made
  // of.
  int SourceOf(int at) const;

 private:
  // Appends a row under a head, with hyphens in it.
  void AppendWidened(absl::string_view row, std::string& divided);

  std::vector<int> added_;  // places of what was added in the divided text
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKDOWN_TABLES_H_
