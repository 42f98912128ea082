#ifndef ATTEND_SERVER_DOCUMENTS_RUN_READER_H_
#define ATTEND_SERVER_DOCUMENTS_RUN_READER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/documents/markup_lexer.h"
#include "server/documents/run.h"

namespace attend {

// The most tags, comments and objects of a document. They take more memory than
// text.
inline constexpr int kMostMarkup = 1 << 18;

// The runs of a marked-up document that have text, in order.
class RunReader {
 public:
  // `document` must outlive the reader. INVALID_ARGUMENT if there is more than
  // kMostMarkup.
  static absl::StatusOr<std::unique_ptr<RunReader>> Open(
      absl::string_view document, MarkupKind kind);
  // Nothing: there are no more. INVALID_ARGUMENT if there is more than
  // kMostMarkup.
  absl::StatusOr<std::optional<Run>> Next();

 private:
  RunReader(absl::string_view document, MarkupKind kind,
            std::vector<MarkupToken> tokens);

  absl::StatusOr<Run> ReadOne();
  bool Untranslated(const MarkupToken& token) const;
  size_t EndOf(size_t open) const;
  bool IsBlock(size_t i) const;

  const absl::string_view document_;
  const MarkupKind kind_;
  const std::vector<MarkupToken> tokens_;
  // Of XML, by token: an element that is inside of a line. Its parent has text
  // of its own, or is inside of a line, too.
  const std::vector<bool> inline_;
  size_t next_ = 0;  // token
};

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_RUN_READER_H_
