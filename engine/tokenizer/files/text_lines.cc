#include "engine/tokenizer/files/text_lines.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// Published vocabularies have at most 300,000 tokens and 600,000 merges.
constexpr int kMaxLines = 1 << 21;

}  // namespace

absl::Status LineError(const std::string& path, int number,
                       absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": line ", number, " ", what));
}

absl::Status ForEachLine(
    const std::string& path, absl::string_view text,
    absl::FunctionRef<absl::Status(int number, absl::string_view line)> use) {
  for (int number = 1; !text.empty(); ++number) {
    if (number > kMaxLines) {
      return LineError(path, number,
                       absl::StrCat("is one too many, limit is ", kMaxLines));
    }
    const size_t end = text.find('\n');
    absl::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const size_t invalid = FindInvalidUtf8(line);
    if (invalid != line.npos) {
      return LineError(path, number,
                       absl::StrCat("is not UTF-8 at byte ", invalid));
    }
    if (end != absl::string_view::npos) absl::ConsumeSuffix(&line, "\r");
    RETURN_IF_ERROR(use(number, line));
  }
  return absl::OkStatus();
}

}  // namespace attend
