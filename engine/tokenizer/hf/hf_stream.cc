#include "engine/tokenizer/hf/hf_stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/tokenizer/text/clean_up.h"
#include "engine/tokenizer/text/utf8.h"

namespace attend {

size_t HfStream::TailBegin(absl::Span<const int> ids) const {
  // A character has at most 4 bytes: an unfinished one has few tokens.
  constexpr size_t kTail = 16;
  const DecoderRules& rules = tokenizer_.rules();
  if (rules.kind == DecoderRules::Kind::kWhole || ids.size() <= kTail) return 0;
  size_t begin = ids.size() - kTail;
  const auto is_byte = [&](int id) {
    return rules.IsByte(tokenizer_.Piece(id, Side::kTarget));
  };
  while (begin > 0 && is_byte(ids[begin])) --begin;
  // The strings that are removed from the start of the text must come before.
  int with_text = 0;
  for (size_t i = 0; i < begin && with_text <= rules.max_stripped; ++i) {
    with_text += tokenizer_.HasText(ids[i]) ? 1 : 0;
  }
  return with_text > rules.max_stripped ? begin : 0;
}

void HfStream::Pass(absl::Span<const int> ids) {
  const size_t begin = TailBegin(ids);
  if (begin > 0) {
    first_ = false;
    stripped_ = tokenizer_.rules().max_stripped;
  }
  for (const int id : ids.subspan(begin)) Append(id);
  text_.clear();
  passed_ids_ = std::move(ids_);
  ids_.clear();
  passed_bytes_ = bytes_.size();
  // The text has begun: nothing more is removed from its start.
  if (passed_bytes_ > 0) stripped_ = tokenizer_.rules().max_stripped;
}

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
  if (!ids_.empty()) return WholeText();
  if (tokenizer_.rules().kind == DecoderRules::Kind::kByteFallback) {
    MoveByteRun();
  } else {
    MoveCharacters(/*at_end=*/true);
  }
  return Settled(/*at_end=*/true);
}

std::string HfStream::WholeText() {
  const auto decode = [&](const std::vector<int>& ids) {
    return tokenizer_.Decode(ids, Side::kTarget, /*keep_special=*/false)
        .value_or("");
  };
  const std::string before = decode(passed_ids_);
  passed_ids_.insert(passed_ids_.end(), ids_.begin(), ids_.end());
  ids_.clear();
  std::string text = decode(passed_ids_);
  const size_t shared =
      std::mismatch(before.begin(), before.end(), text.begin(), text.end())
          .first -
      before.begin();
  // From the start of the character in which the two texts begin to differ.
  size_t begin = shared;
  while (begin > 0 && begin < text.size() && (text[begin] & 0xc0) == 0x80) {
    --begin;
  }
  return text.substr(begin);
}

void HfStream::MoveCharacters(bool at_end) {
  absl::string_view rest = bytes_;
  while (!rest.empty()) {
    const Utf8Char first = FirstUtf8Char(rest);
    if (first.incomplete && !at_end) break;
    const size_t size = first.length > 0 ? first.length : first.broken;
    // A broken character of earlier ids was returned before.
    if (first.length > 0) {
      absl::StrAppend(&text_, rest.substr(0, size));
    } else if (size > passed_bytes_) {
      absl::StrAppend(&text_, kReplacement);
    }
    passed_bytes_ -= std::min(passed_bytes_, size);
    rest.remove_prefix(size);
  }
  bytes_ = std::string(rest);
}

void HfStream::MoveByteRun() {
  size_t begin = std::exchange(passed_bytes_, 0);
  if (FindInvalidUtf8(bytes_) == absl::string_view::npos) {
    // From the start of a character.
    while (begin < bytes_.size() && (bytes_[begin] & 0xc0) == 0x80) --begin;
    absl::StrAppend(&text_, absl::string_view(bytes_).substr(begin));
  } else {
    for (; begin < bytes_.size(); ++begin) {
      absl::StrAppend(&text_, kReplacement);
    }
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
