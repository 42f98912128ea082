#include "engine/tokenizer/hf_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tokenizer/clean_up.h"
#include "engine/tokenizer/utf8.h"

namespace attend {

std::string HfStream::Append(int id) {
  if (!tokenizer_.HasText(id)) return "";
  const DecoderRules& rules = tokenizer_.rules();
  const absl::string_view piece = tokenizer_.Piece(id, Side::kTarget);
  const std::string text = std::exchange(first_, false)
                               ? rules.FirstText(piece)
                               : std::string(tokenizer_.TokenText(id));
  switch (rules.kind) {
    case DecoderRules::Kind::kWhole:
      ids_.push_back(id);
      break;
    case DecoderRules::Kind::kByteLevel:
      absl::StrAppend(&bytes_, text);
      MoveCharacters(/*at_end=*/false);
      break;
    case DecoderRules::Kind::kByteFallback:
      if (rules.IsByte(piece)) {
        absl::StrAppend(&bytes_, text);
        break;
      }
      MoveByteRun();
      absl::StrAppend(&text_, text);
      break;
    default:
      absl::StrAppend(&text_, text);
  }
  return Settled(/*at_end=*/false);
}

std::string HfStream::Flush() {
  if (!ids_.empty()) {
    auto text = tokenizer_.Decode(std::exchange(ids_, {}), Side::kTarget,
                                  /*keep_special=*/false);
    return text.ok() ? *std::move(text) : "";
  }
  if (tokenizer_.rules().kind == DecoderRules::Kind::kByteFallback) {
    MoveByteRun();
  } else {
    MoveCharacters(/*at_end=*/true);
  }
  return Settled(/*at_end=*/true);
}

void HfStream::MoveCharacters(bool at_end) {
  absl::string_view rest = bytes_;
  while (!rest.empty()) {
    const Utf8Char first = FirstUtf8Char(rest);
    if (first.incomplete && !at_end) break;
    absl::StrAppend(
        &text_, first.length > 0 ? rest.substr(0, first.length) : kReplacement);
    rest.remove_prefix(first.length > 0 ? first.length : first.broken);
  }
  bytes_ = std::string(rest);
}

void HfStream::MoveByteRun() {
  const bool whole = FindInvalidUtf8(bytes_) == absl::string_view::npos;
  if (whole) absl::StrAppend(&text_, bytes_);
  for (size_t i = 0; !whole && i < bytes_.size(); ++i) {
    absl::StrAppend(&text_, kReplacement);
  }
  bytes_.clear();
}

std::string HfStream::Settled(bool at_end) {
  const DecoderRules& rules = tokenizer_.rules();
  while (stripped_ < rules.max_stripped && !text_.empty()) {
    absl::string_view rest = text_;
    stripped_ = absl::ConsumePrefix(&rest, rules.stripped) ? stripped_ + 1
                                                           : rules.max_stripped;
    text_ = std::string(rest);
  }
  if (!tokenizer_.cleans_up_spaces()) return std::exchange(text_, "");
  const size_t length = at_end ? text_.size() : CleanUpBoundary(text_);
  std::string settled = CleanUpSpaces(text_.substr(0, length));
  text_.erase(0, length);
  return settled;
}

}  // namespace attend
