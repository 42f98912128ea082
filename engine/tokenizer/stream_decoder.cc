#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tokenizer/clean_up.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/utf8.h"

namespace attend {

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer)
    : tokenizer_(&tokenizer) {}

std::string StreamDecoder::Append(int id) {
  absl::StrAppend(&bytes_, tokenizer_->TokenText(id));
  text_ += Characters(/*at_end=*/false);
  return Settled(/*at_end=*/false);
}

std::string StreamDecoder::Flush() {
  text_ += Characters(/*at_end=*/true);
  return Settled(/*at_end=*/true);
}

std::string StreamDecoder::Characters(bool at_end) {
  std::string characters;
  absl::string_view rest = bytes_;
  while (!rest.empty()) {
    const Utf8Char first = FirstUtf8Char(rest);
    if (first.incomplete && !at_end) break;
    absl::string_view character =
        first.length > 0 ? rest.substr(0, first.length) : kReplacement;
    rest.remove_prefix(std::max(first.length, 1));
    if (character == kSpaceMark) character = " ";
    if (IsSpace(character)) {
      if (started_) absl::StrAppend(&spaces_, character);
      continue;
    }
    absl::StrAppend(&characters, std::exchange(spaces_, ""), character);
    started_ = true;
  }
  bytes_ = std::string(rest);
  return characters;
}

std::string StreamDecoder::Settled(bool at_end) {
  if (!tokenizer_->cleans_up_spaces()) return std::exchange(text_, "");
  const size_t length = at_end ? text_.size() : CleanUpBoundary(text_);
  std::string settled = CleanUpSpaces(text_.substr(0, length));
  text_.erase(0, length);
  return settled;
}

}  // namespace attend
