#ifndef ATTEND_SERVER_DOCUMENTS_RUN_READER_H_
#define ATTEND_SERVER_DOCUMENTS_RUN_READER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/documents/element_tree.h"
#include "server/documents/markup_lexer.h"
#include "server/documents/run.h"
#include "server/documents/run_source.h"

namespace attend {

// The runs of a document of HTML or XML that have text: those of attributes in
// order, and then those between tags in order.
class RunReader final : public RunSource {
 public:
  // Reads from byte `begin` on. `document` must outlive the reader.
  // INVALID_ARGUMENT if there is more than kMostMarkup.
  static absl::StatusOr<std::unique_ptr<RunReader>> Open(
      absl::string_view document, MarkupKind kind, int begin = 0);
  absl::StatusOr<std::optional<Run>> Next() override;

 private:
  RunReader(absl::string_view document, MarkupKind kind, ElementTree tree);

  // The next text of an attribute; nothing: there are no more.
  std::optional<Run> NextAttribute();
  absl::StatusOr<Run> ReadOne();
  // Takes the element that begins with token `first` if none of it is
  // translated, else the token. False: the run ends there.
  bool ReadMarkup(size_t first, Run& run);
  void ReadText(size_t token, Run& run) const;
  // Whether the element that begins with token `first` is to be kept as it is.
  bool IsUntranslated(size_t first) const;
  bool IsBlock(size_t i) const;
  // Whether token `first` divides what would be one word without it: the item
  // of a menu, and the next one.
  bool DividesWords(const Run& run, size_t first) const;
  // The text that follows tags from token `first` on, up to a block; empty:
  // there is none.
  absl::string_view TextAfter(size_t first) const;

  const absl::string_view document_;
  const MarkupKind kind_;
  const ElementTree tree_;
  // Of XML, by token: an element that is inside of a line. Its parent has text
  // of its own, or is inside of a line, too.
  const std::vector<bool> inline_;
  // The number of tokens before a token that are translated, and that are
  // blocks.
  std::vector<int> translated_before_;
  std::vector<int> blocks_before_;
  size_t next_ = 0;  // token
  // The token whose attributes are read next, and the next one of them.
  size_t next_tag_ = 0, next_attribute_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_RUN_READER_H_
