#include "server/service/question_windows.h"

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
                   const QuestionWindows::Window& window) {
  const int size = static_cast<int>(all.size());
  std::vector<T> result;
  result.reserve(begin + window.end - window.begin + size - end);
  AppendRange(all, 0, begin, result);
  AppendRange(all, window.begin, window.end, result);
  AppendRange(all, end, size, result);
  return result;
}

}  // namespace

QuestionWindows::QuestionWindows(Encoding encoding)
    : encoding_(std::move(encoding)) {
  const auto of_context = [](const TokenOrigin& origin) {
    return origin.text == 1;
  };
  const std::vector<TokenOrigin>& origins = encoding_.origins;
  begin_ = static_cast<int>(
      std::find_if(origins.begin(), origins.end(), of_context) -
      origins.begin());
  end_ = static_cast<int>(origins.rend() - std::find_if(origins.rbegin(),
                                                        origins.rend(),
                                                        of_context));
}

absl::StatusOr<QuestionWindows> QuestionWindows::Create(
    absl::string_view question, absl::string_view context, WindowSize size,
    const Tokenizer& tokenizer, absl::string_view field) {
  auto encoding = tokenizer.Encode({.text = question, .pair = context});
  if (!encoding.ok()) return Annotate(encoding.status(), field);
  const bool asks =
      std::any_of(encoding->origins.begin(), encoding->origins.end(),
                  [](const TokenOrigin& origin) { return origin.text == 0; });
  QuestionWindows windows(*std::move(encoding));
  if (!asks || windows.begin_ >= windows.end_) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, asks ? ".context" : ".question",
                     " has no tokens, must have one"));
  }
  if (windows.Place(size)) return windows;
  const int others = static_cast<int>(windows.encoding_.ids.size()) -
                     (windows.end_ - windows.begin_);
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s.question has %d tokens, special ones included, and leaves room for "
      "%d of the context in a window of %d (max_window_tokens), must be more "
      "than %d (window_overlap)",
      field, others, std::max(size.tokens - others, 0), size.tokens,
      size.overlap));
}

bool QuestionWindows::Place(WindowSize size) {
  const int all = static_cast<int>(encoding_.ids.size());
  if (all <= size.tokens) {
    windows_.push_back({begin_, end_});
    return true;
  }
  const int room = size.tokens - (all - (end_ - begin_));
  if (room <= size.overlap) return false;
  for (int begin = begin_;; begin += room - size.overlap) {
    const int end = std::min(begin + room, end_);
    windows_.push_back({begin, end});
    if (end == end_) return true;
  }
}

SourceTokens QuestionWindows::Tokens(int index, bool types) const {
  SourceTokens tokens;
  tokens.ids = Cut(encoding_.ids, begin_, end_, windows_[index]);
  if (types) tokens.types = Cut(encoding_.types, begin_, end_, windows_[index]);
  return tokens;
}

int QuestionWindows::CountTokens(int index) const {
  const Window& window = windows_[index];
  return static_cast<int>(encoding_.ids.size()) - (end_ - begin_) +
         (window.end - window.begin);
}

}  // namespace attend
