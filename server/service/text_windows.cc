#include "server/service/text_windows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/status_macros.h"
#include "server/service/request_fields.h"

namespace attend {
namespace {

template <class T>
void AppendRange(const std::vector<T>& from, int begin, int end,
                 std::vector<T>& to) {
  to.insert(to.end(), from.begin() + begin, from.begin() + end);
}

// [all before `begin`, the window, all after `end`].
template <class T>
std::vector<T> Cut(const std::vector<T>& all, int begin, int end,
                   const TextWindows::Window& window) {
  const int size = static_cast<int>(all.size());
  std::vector<T> result;
  result.reserve(begin + window.end - window.begin + size - end);
  AppendRange(all, 0, begin, result);
  AppendRange(all, window.begin, window.end, result);
  AppendRange(all, end, size, result);
  return result;
}

}  // namespace

TextWindows::TextWindows(Encoding encoding, int text)
    : encoding_(std::move(encoding)) {
  const auto of_text = [text](const TokenOrigin& origin) {
    return origin.text == text;
  };
  const std::vector<TokenOrigin>& origins = encoding_.origins;
  begin_ = static_cast<int>(
      std::find_if(origins.begin(), origins.end(), of_text) - origins.begin());
  end_ = static_cast<int>(
      origins.rend() - std::find_if(origins.rbegin(), origins.rend(), of_text));
  end_ = std::max(begin_, end_);
}

absl::StatusOr<TextWindows> TextWindows::OfContext(absl::string_view question,
                                                   absl::string_view context,
                                                   WindowSize size,
                                                   const Tokenizer& tokenizer,
                                                   absl::string_view field) {
  auto encoding = tokenizer.Encode({.text = question, .pair = context});
  if (!encoding.ok()) return Annotate(encoding.status(), field);
  const bool asks =
      std::any_of(encoding->origins.begin(), encoding->origins.end(),
                  [](const TokenOrigin& origin) { return origin.text == 0; });
  TextWindows windows(*std::move(encoding), 1);
  if (!asks || windows.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, asks ? ".context" : ".question",
                     " has no tokens, must have one"));
  }
  if (windows.Place(size, TruncationSide::kRight)) return windows;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s.question has %d tokens, special ones included, and leaves room for "
      "%d of the context in a window of %d (max_window_tokens), must be more "
      "than %d (window_overlap)",
      field, windows.tokens() - (windows.end_ - windows.begin_),
      std::max(windows.Room(size), 0), size.tokens, size.overlap));
}

absl::StatusOr<TextWindows> TextWindows::OfText(absl::string_view text,
                                                WindowSize size,
                                                bool add_special,
                                                const Tokenizer& tokenizer,
                                                const std::string& field) {
  auto encoding = tokenizer.Encode({.text = text, .add_special = add_special});
  if (!encoding.ok()) return Annotate(encoding.status(), field);
  TextWindows windows(*std::move(encoding), 0);
  if (windows.tokens() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " has no tokens, must have one"));
  }
  if (windows.Place(size, tokenizer.truncation_side())) return windows;
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s is longer than a window of %d tokens (max_text_tokens), which has "
      "room for %d of the text, must be more than %d (stride)",
      field, size.tokens, std::max(windows.Room(size), 0), size.overlap));
}

bool TextWindows::Place(WindowSize size, TruncationSide side) {
  if (tokens() <= size.tokens) {
    windows_.push_back({begin_, end_});
    return true;
  }
  const int room = Room(size);
  if (room <= size.overlap) return false;
  const int step = room - size.overlap;
  if (side == TruncationSide::kLeft) {
    for (int end = end_;; end -= step) {
      const int begin = std::max(end - room, begin_);
      windows_.push_back({begin, end});
      if (begin == begin_) return true;
    }
  }
  for (int begin = begin_;; begin += step) {
    const int end = std::min(begin + room, end_);
    windows_.push_back({begin, end});
    if (end == end_) return true;
  }
}

SourceTokens TextWindows::Tokens(int index, bool types) const {
  SourceTokens tokens;
  tokens.ids = Cut(encoding_.ids, begin_, end_, windows_[index]);
  if (types) tokens.types = Cut(encoding_.types, begin_, end_, windows_[index]);
  return tokens;
}

std::vector<TokenOrigin> TextWindows::Origins(int index) const {
  return Cut(encoding_.origins, begin_, end_, windows_[index]);
}

int TextWindows::CountTokens(int index) const {
  const Window& window = windows_[index];
  return tokens() - (end_ - begin_) + (window.end - window.begin);
}

}  // namespace attend
