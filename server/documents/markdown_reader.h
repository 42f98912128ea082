#ifndef ATTEND_SERVER_DOCUMENTS_MARKDOWN_READER_H_
#define ATTEND_SERVER_DOCUMENTS_MARKDOWN_READER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/documents/run.h"
#include "server/documents/run_source.h"

namespace attend {

// Maximum number of blocks, marks and escapes of a document of Markdown.
inline constexpr int kMostMarks = 1 << 19;

// The runs of a document of Markdown that have text, in order: CommonMark with
// the tables, strikethrough and task lists of GitHub, as the library md4c reads
// it. A paragraph, a heading, an item of a list, or a cell of a table is a run;
// emphasis and links are tags in it; code, autolinks are objects. Descriptions
// of pictures are runs of their own. Blocks of HTML are read as HTML. Code
// blocks, definitions of links, and what YAML or TOML says at the begin of the
// document (front matter) are no text.
class MarkdownReader final : public RunSource {
 public:
  // Reads all of the document, in time in proportion to its size. `document`
  // must outlive the call, and have fewer than 2^31 bytes. INVALID_ARGUMENT if
  // there is more than kMostMarks, or if definitions of links have so many
  // bytes and are used so often that they would take long.
  static absl::StatusOr<std::unique_ptr<MarkdownReader>> Open(
      absl::string_view document);
  absl::StatusOr<std::optional<Run>> Next() override;

 private:
  explicit MarkdownReader(std::vector<Run> runs) : runs_(std::move(runs)) {}

  std::vector<Run> runs_;
  size_t next_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_MARKDOWN_READER_H_
