#ifndef ATTEND_ENGINE_TOKENIZER_FILES_TEXT_LINES_H_
#define ATTEND_ENGINE_TOKENIZER_FILES_TEXT_LINES_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace attend {

// Calls `use` for each line of `text`, without its end ("\n" or "\r\n"), until
// it returns an error. Lines are numbered from 1. INVALID_ARGUMENT names `path`
// and the line: it is not UTF-8, or beyond the limit of 2097152 lines.
absl::Status ForEachLine(
    const std::string& path, absl::string_view text,
    absl::FunctionRef<absl::Status(int number, absl::string_view line)> use);

// An error in a line of a file.
absl::Status LineError(const std::string& path, int number,
                       absl::string_view what);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_FILES_TEXT_LINES_H_
