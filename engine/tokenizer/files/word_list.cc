#include "engine/tokenizer/files/word_list.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/json/read_file.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/files/text_lines.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {
namespace {

// Removes white space of Unicode, as Rust does. Python removes four control
// characters, too.
absl::string_view TrimEnd(absl::string_view text) {
  while (!text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
    const absl::string_view last = text.substr(begin);
    const bool separator =
        last.size() == 1 && last[0] >= '\x1c' && last[0] <= '\x1f';
    if (!IsSpace(last) || separator) break;
    text = text.substr(0, begin);
  }
  return text;
}

}  // namespace

absl::StatusOr<nlohmann::json> LoadWordList(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  nlohmann::json vocab = nlohmann::json::object();
  RETURN_IF_ERROR(
      ForEachLine(path, text, [&](int number, absl::string_view line) {
        vocab[std::string(TrimEnd(line))] = number - 1;
        return absl::OkStatus();
      }));
  if (vocab.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has no tokens"));
  }
  return nlohmann::json{{"type", "WordPiece"}, {"vocab", std::move(vocab)}};
}

}  // namespace attend
