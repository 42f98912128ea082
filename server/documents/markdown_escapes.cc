#include "server/documents/markdown_escapes.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/character_references.h"

namespace attend {
namespace {

bool IsSpace(char c) { return absl::ascii_isspace(c); }

// Brackets that could be those of a link, or end one.
bool HasLinkBrackets(absl::string_view text, char after) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] != ']') continue;
    const char next = i + 1 < text.size() ? text[i + 1] : after;
    if (--depth < 0 || absl::StrContains("([:", next)) return true;
  }
  return depth != 0;
}

// The byte of a text that makes a mark of a block of it at the begin of a line;
// npos: it makes none.
size_t BlockMark(absl::string_view text) {
  if (text.empty()) return text.npos;
  const auto ends = [&](size_t at) {
    return at >= text.size() || IsSpace(text[at]);
  };
  const size_t same = std::min(text.find_first_not_of(text[0]), text.size());
  switch (text[0]) {
    case '>':
    case '[':
      return 0;
    case '#':
      return same <= 6 && ends(same) ? 0 : text.npos;
    case '-':
    case '+':
    case '*':
      return ends(1) || same == text.size() ? 0 : text.npos;
    case '=':
      return same == text.size() ? 0 : text.npos;
    default:
      break;
  }
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(text[digits])) ++digits;
  const bool number = digits > 0 && digits <= 9 && digits < text.size() &&
                      absl::StrContains(".)", text[digits]) && ends(digits + 1);
  return number ? digits : text.npos;
}

class MarkdownEscaper {
 public:
  MarkdownEscaper(absl::string_view text, const MarkdownPlace& place)
      : text_(text),
        place_(place),
        has_links_(HasLinkBrackets(text, place.after)),
        block_mark_(place.begins_line ? BlockMark(text) : text.npos),
        tildes_(std::count(text.begin(), text.end(), '~')) {}

  bool NeedsEscape(size_t i) const {
    if (i == block_mark_) return true;
    const char before = i > 0 ? text_[i - 1] : place_.before;
    const char after = i + 1 < text_.size() ? text_[i + 1] : place_.after;
    const bool alone = IsSpace(before) && IsSpace(after);
    const bool last = i + 1 == text_.size();
    switch (text_[i]) {
      case '`':
        return true;
      case '\\':
        return absl::ascii_ispunct(after) || (last && !IsSpace(after));
      case '*':
        return !alone;
      case '_':
        return !alone &&
               !(absl::ascii_isalnum(before) && absl::ascii_isalnum(after));
      case '~':
        return !alone && (tildes_ > 1 || before == '~' || after == '~');
      case '[':
      case ']':
        return has_links_;
      case '!':
        return last && after == '[';
      case '<':
        return absl::ascii_isalpha(after) || absl::StrContains("/!?", after);
      case '&':
        return ReadReference(text_.substr(i), MarkupKind::kHtml).length > 0;
      case '|':
        return place_.is_cell;
      case '#':  // of the end of a heading
        return last && IsSpace(before);
      default:
        return false;
    }
  }

 private:
  const absl::string_view text_;
  const MarkdownPlace& place_;
  const bool has_links_;
  const size_t block_mark_;
  const std::ptrdiff_t tildes_;
};

}  // namespace

void AppendMarkdown(absl::string_view text, const MarkdownPlace& place,
                    std::string& to) {
  const MarkdownEscaper escaper(text, place);
  for (size_t i = 0; i < text.size(); ++i) {
    if (escaper.NeedsEscape(i)) to += '\\';
    to += text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
  }
}

bool BeginsHtmlBlock(absl::string_view raw) {
  return absl::StartsWith(raw, "<!") || absl::StartsWith(raw, "<?") ||
         absl::StartsWithIgnoreCase(raw, "<textarea");
}

std::string InOneLine(absl::string_view code) {
  std::string line;
  for (size_t i = 0; i < code.size();) {
    if (code[i] != '\n' && code[i] != '\r') {
      line += code[i++];
      continue;
    }
    line += ' ';
    i = std::min(code.find_first_not_of("\r\n\t >", i), code.size());
  }
  return line;
}

bool BeginsMarkdownLine(absl::string_view document, int at) {
  constexpr absl::string_view kOfContainers = " \t>-+*.)[]xX0123456789";
  constexpr int kLongest = 256;
  for (int i = 0; i < kLongest && at > 0; ++i) {
    const char c = document[--at];
    if (c == '\n' || c == '\r') return true;
    if (!absl::StrContains(kOfContainers, c)) return false;
  }
  return at == 0;
}

}  // namespace attend
