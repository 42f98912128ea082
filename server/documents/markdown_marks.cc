#include "server/documents/markdown_marks.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace attend {
namespace {

constexpr size_t kNoMark = absl::string_view::npos;
// White space, and what the lines of a quotation begin with.
constexpr absl::string_view kSpaces = " \t\r\n>";

// Finds marks in a text, from its begin on.
class MarkScanner {
 public:
  // `text` ends where the next text of the block begins.
  MarkScanner(absl::string_view text, size_t at) : text_(text), at_(at) {}

  size_t at() const { return at_; }

  // Goes over the mark of an event; false: there is none.
  bool Take(const MarkdownEvent& event, std::vector<bool>& autolinks) {
    switch (event.kind) {
      case MarkdownEvent::kEmphasis:
        return TakeAny("*_");
      case MarkdownEvent::kStrong:
        return TakeAny("*_") && TakeAny(text_.substr(at_ - 1, 1));
      case MarkdownEvent::kStrikethrough:
        return (!event.begins || !IsBehind('~')) && TakeAny("~") &&
               (TakeAny("~") || true);
      case MarkdownEvent::kLink:
        return event.begins ? BeginLink(autolinks) : EndLink(autolinks);
      case MarkdownEvent::kImage:
        return event.begins ? TakeAny("!") && TakeAny("[") : TakeLinkEnd();
      case MarkdownEvent::kCode:
        return event.begins ? BeginCode() : EndCode();
      case MarkdownEvent::kSoftBreak:
      case MarkdownEvent::kHardBreak:
        return TakeBreak();
    }
    return false;
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool IsBehind(char c) const { return at_ > 0 && text_[at_ - 1] == c; }
  bool TakeAny(absl::string_view characters) {
    if (at_ >= text_.size() || !absl::StrContains(characters, text_[at_])) {
      return false;
    }
    ++at_;
    return true;
  }
  void SkipAny(absl::string_view characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }

  bool BeginLink(std::vector<bool>& autolinks) {
    autolinks.push_back(Peek() == '<');
    return TakeAny("<[");
  }
  bool EndLink(std::vector<bool>& autolinks) {
    const bool autolink = !autolinks.empty() && autolinks.back();
    if (!autolinks.empty()) autolinks.pop_back();
    return autolink ? TakeAny(">") : TakeLinkEnd();
  }

  // "](destination "title")", "][label]" or "]".
  bool TakeLinkEnd() {
    if (!TakeAny("]")) return false;
    const size_t end = Peek() == '('   ? EndOfTarget()
                       : Peek() == '[' ? EndOfLabel()
                                       : kNoMark;
    if (end != kNoMark) at_ = end;
    return true;
  }
  size_t EndOfLabel() const { return BehindUnescaped(at_ + 1, ']', "["); }
  size_t EndOfTarget() const {
    size_t at = SkipSpaces(at_ + 1);
    if (at < text_.size() && text_[at] == '<') {
      at = BehindUnescaped(at + 1, '>', "<\n");
      if (at == kNoMark) return kNoMark;
    } else {
      int depth = 0;
      for (; at < text_.size() && !absl::ascii_isspace(text_[at]); ++at) {
        if (text_[at] == '\\') {
          ++at;
        } else if (text_[at] == '(') {
          ++depth;
        } else if (text_[at] == ')' && --depth < 0) {
          break;
        }
      }
    }
    at = SkipSpaces(at);
    if (at < text_.size() && absl::StrContains("\"'(", text_[at])) {
      at = BehindUnescaped(at + 1, text_[at] == '(' ? ')' : text_[at], "");
      if (at == kNoMark) return kNoMark;
      at = SkipSpaces(at);
    }
    return at < text_.size() && text_[at] == ')' ? at + 1 : kNoMark;
  }
  // Also over the begin of a line in a quotation.
  size_t SkipSpaces(size_t at) const {
    bool broken = false;
    for (; at < text_.size(); ++at) {
      broken |= text_[at] == '\n' || text_[at] == '\r';
      if (!absl::ascii_isspace(text_[at]) && !(broken && text_[at] == '>')) {
        break;
      }
    }
    return at;
  }
  size_t BehindUnescaped(size_t at, char wanted,
                         absl::string_view not_in) const {
    for (; at < text_.size(); ++at) {
      if (text_[at] == wanted) return at + 1;
      if (absl::StrContains(not_in, text_[at])) return kNoMark;
      if (text_[at] == '\\') ++at;
    }
    return kNoMark;
  }

  // White space next to the backticks may be a part of the mark.
  bool BeginCode() {
    if (Peek() != '`' || IsBehind('`')) return false;
    SkipAny("`");
    if (text_.find_first_not_of(kSpaces, at_) == kNoMark) at_ = text_.size();
    return true;
  }
  bool EndCode() {
    SkipAny(kSpaces);
    if (Peek() != '`') return false;
    SkipAny("`");
    return true;
  }

  // The end of a line and what the next one begins with in its containers.
  bool TakeBreak() {
    SkipAny(" \t");
    if (Peek() == '\\') ++at_;
    if (Peek() == '\r') ++at_;
    const bool broken = Peek() == '\n' || (at_ > 0 && text_[at_ - 1] == '\r');
    SkipAny(" \t\n>");
    return broken;
  }

  const absl::string_view text_;
  size_t at_;
};

}  // namespace

std::optional<std::vector<TextRange>> FindMarks(
    absl::string_view document, absl::Span<const MarkdownEvent> events,
    TextRange between, bool open_ended, std::vector<bool>& autolinks) {
  const absl::string_view text =
      document.substr(0, static_cast<size_t>(between.end));
  MarkScanner scanner(text, static_cast<size_t>(between.begin));
  std::vector<TextRange> marks;
  for (const MarkdownEvent& event : events) {
    const int begin = static_cast<int>(scanner.at());
    if (!scanner.Take(event, autolinks)) return std::nullopt;
    marks.push_back({begin, static_cast<int>(scanner.at())});
  }
  const absl::string_view rest = text.substr(scanner.at());
  if (!open_ended && !rest.empty() && rest != "\\") return std::nullopt;
  return marks;
}

}  // namespace attend
