#ifndef ATTEND_SERVER_DOCUMENTS_RUN_READER_H_
#define ATTEND_SERVER_DOCUMENTS_RUN_READER_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/documents/markup_lexer.h"
#include "server/documents/run.h"

namespace attend {

// The most tags, comments and objects of a document. They take more memory than
// text.
inline constexpr int kMostMarkup = 1 << 18;

// Calls `use` for each run of a marked-up document that has text, in order. An
// error of `use` ends the reading, and is returned. INVALID_ARGUMENT if there
// is more than kMostMarkup.
absl::Status ReadRuns(absl::string_view document, MarkupKind kind,
                      absl::FunctionRef<absl::Status(Run&)> use);

}  // namespace attend

#endif  // ATTEND_SERVER_DOCUMENTS_RUN_READER_H_
