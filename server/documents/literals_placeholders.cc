#include "server/documents/literals_placeholders.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "server/documents/literals_tags.h"
#include "server/documents/literals_text.h"

namespace attend {
namespace {

// An expression in brackets is no longer than this, nor is a search for its
// end; a message of ICU, which has texts inside, may be longer.
constexpr size_t kLongestExpression = 256;
constexpr size_t kLongestMessage = 1024;

// What a format of ICU is called after the first comma.
constexpr std::array<absl::string_view, 12> kIcuFormats = {
    "number", "date",     "time",    "plural", "select", "selectordinal",
    "choice", "spellout", "ordinal", "list",   "unit",   "duration"};

bool IsOneOf(char c, absl::string_view set) { return set.find(c) != set.npos; }

size_t SpacesSize(absl::string_view text) {
  return std::min(text.size(), text.find_first_not_of(' '));
}

// The bytes of a text up to the bracket that closes the one that it begins
// with, both included; 0: none of the first `longest` bytes does.
size_t BalancedSize(absl::string_view text, char close, size_t longest) {
  const char open = text[0];
  int depth = 0;
  for (size_t at = 0; at < std::min(text.size(), longest); ++at) {
    if (text[at] == open) ++depth;
    if (text[at] == close && --depth == 0) return at + 1;
  }
  return 0;
}

// open name close, where the name may not be empty.
size_t Enclosed(absl::string_view text, absl::string_view open,
                absl::string_view close, absl::string_view set) {
  if (!absl::StartsWith(text, open)) return 0;
  const size_t name = NameSize(text.substr(open.size()), set);
  const absl::string_view rest = text.substr(open.size() + name);
  if (name == 0 || !absl::StartsWith(rest, close)) return 0;
  return open.size() + name + close.size();
}

// open anything close, in one line.
size_t Between(absl::string_view text, absl::string_view open,
               absl::string_view close) {
  if (!absl::StartsWith(text, open)) return 0;
  text = text.substr(0, kLongestExpression);
  const size_t end = text.find(close, open.size() + 1);
  if (end == text.npos || absl::StrContains(text.substr(0, end), '\n')) {
    return 0;
  }
  return end + close.size();
}

// True if a format of Python or C# may follow the colon in {name:format}: it
// has no spaces, unless it is one of dates, or begins with what fills the
// field.
// "{note: see below}" is a remark.
bool IsFormat(absl::string_view name, absl::string_view format) {
  const bool numbered =
      !name.empty() && absl::c_all_of(name, absl::ascii_isdigit);
  if (numbered || absl::StrContains(format, '%')) return true;
  const bool fills =
      format.size() > 1 && format[0] == ' ' && IsOneOf(format[1], "<>=^");
  return !absl::StrContains(format.substr(fills ? 1 : 0), ' ');
}

// True if `rest` may follow the name in {name...}, up to its closing brace.
bool IsField(absl::string_view name, absl::string_view rest) {
  if (absl::ConsumePrefix(&rest, "!")) {  // Python's conversion
    if (rest.empty() || !IsOneOf(rest[0], "rsa")) return false;
    rest.remove_prefix(1);
    if (rest.empty()) return true;
  }
  if (absl::ConsumePrefix(&rest, ":")) return IsFormat(name, rest);
  rest.remove_prefix(SpacesSize(rest));
  if (!absl::ConsumePrefix(&rest, ",")) return false;
  rest.remove_prefix(SpacesSize(rest));
  const absl::string_view word = rest.substr(0, NameSize(rest, ""));
  if (absl::c_linear_search(kIcuFormats, word)) return true;
  absl::ConsumePrefix(&rest, "-");  // C#'s width
  const size_t digits = rest.find_first_not_of("0123456789");
  if (digits == 0 || rest.empty()) return false;
  return digits == rest.npos || rest[digits] == ':';
}

// Vue's {'@'}, which is a mark. "{'name': 'x'}" is an object.
size_t Quoted(absl::string_view text) {
  constexpr size_t kLongestQuoted = 8;
  const size_t size = Between(text, "{'", "'}");
  return size <= kLongestQuoted ? size : 0;
}

size_t Field(absl::string_view text) {
  if (text[0] != '{') return 0;
  absl::string_view inside = text.substr(1);
  const size_t spaces = SpacesSize(inside.substr(0, kLongestName));
  const absl::string_view name =
      inside.substr(spaces, NameSize(inside.substr(spaces), "_.-[]$@"));
  inside.remove_prefix(spaces + name.size());
  if (inside.empty()) return 0;
  if (inside[0] == '\'') return Quoted(text);
  if (inside[0] == '}') return spaces > 0 ? 0 : name.size() + 2;
  if (!IsOneOf(inside[0], name.empty() ? ":" : "!:, ")) return 0;
  const size_t size = BalancedSize(text, '}', kLongestMessage);
  if (size == 0) return 0;
  const size_t before = 1 + spaces + name.size();
  return IsField(name, text.substr(before, size - 1 - before)) ? size : 0;
}

size_t Braces(absl::string_view text) {
  if (!IsOneOf(text[0], "{$#%")) return 0;
  if (const size_t size = Between(text, "{{{", "}}}")) return size;
  if (const size_t size = Between(text, "{{", "}}")) return size;
  if (const size_t size = Between(text, "{%", "%}")) return size;
  for (const absl::string_view open : {"${", "#{"}) {
    if (!absl::StartsWith(text, open)) continue;
    const size_t size = BalancedSize(text.substr(1), '}', kLongestExpression);
    if (size > 2) return size + 1;
  }
  if (const size_t size = Enclosed(text, "%{", "}", "_.-:[]!$@")) return size;
  return Field(text);
}

// True if a percent sign after `before` is that of a number: "100%", "100 %".
bool EndsWithNumber(absl::string_view before) {
  for (const absl::string_view space : {" ", "\u00a0", "\u202f"}) {
    if (absl::ConsumeSuffix(&before, space)) break;
  }
  return !before.empty() && absl::ascii_isdigit(before.back());
}

// Qt's %1 and %L1, Boost's %1%.
size_t Numbered(absl::string_view text) {
  size_t at = 1;
  if (at < text.size() && text[at] == 'L') ++at;
  const size_t begin = at;
  while (at < text.size() && at < begin + 2 && absl::ascii_isdigit(text[at])) {
    ++at;
  }
  if (at == begin) return 0;
  if (at == text.size()) return at;
  if (absl::ascii_isdigit(text[at])) return 0;
  const bool ends = text[at] == '%' && !(at + 1 < text.size() &&
                                         absl::ascii_isalnum(text[at + 1]));
  return ends ? at + 1 : at;
}

// The flags, widths and conversion of printf and its relatives, behind the
// percent sign and a name. Letters that follow are part of it: a unit, or the
// rest of a name.
size_t ConversionSize(absl::string_view text) {
  size_t at = 0;
  while (at < std::min(text.size(), kLongestName) &&
         IsOneOf(text[at], "0123456789.$+-#'*hlLqjz")) {
    ++at;
  }
  // All that formats of texts, numbers, dates and Qt have.
  constexpr absl::string_view kConversions =
      "sdiufFeEgGxXoc@nSaApbBCyYmMHIjtTzZkwWUVrRD";
  if (at >= text.size() || !IsOneOf(text[at], kConversions)) return 0;
  const absl::string_view rest = text.substr(at + 1);
  // "%e2" is a byte of a URL.
  if (absl::ascii_isxdigit(text[at]) && !rest.empty() &&
      absl::ascii_isdigit(rest[0])) {
    return 0;
  }
  size_t letters = 0;
  while (letters < std::min(rest.size(), kLongestName) &&
         (absl::ascii_isalnum(rest[letters]) || rest[letters] == '_')) {
    ++letters;
  }
  return at + 1 + letters;
}

// True for a byte in a URL: "a%20b". "a%05d" is a format.
bool IsUrlByte(absl::string_view before, absl::string_view text) {
  return !before.empty() && absl::ascii_isalnum(before.back()) &&
         text.size() > 3 && text[1] != '0' && absl::ascii_isxdigit(text[1]) &&
         absl::ascii_isdigit(text[2]) && absl::ascii_isalnum(text[3]);
}

size_t Percent(absl::string_view before, absl::string_view text) {
  if (text[0] != '%' || IsUrlByte(before, text)) return 0;
  const absl::string_view rest = text.substr(1);
  size_t name = Enclosed(rest, "(", ")", "_.- ");
  if (name == 0) name = Enclosed(rest, "<", ">", "_");
  if (name == 0 && EndsWithNumber(before)) {
    // "100%s" is no number with a name.
    return ConversionSize(rest) == 1 ? 2 : Numbered(text);
  }
  if (const size_t size = ConversionSize(rest.substr(name))) {
    return 1 + name + size;
  }
  return name > 0 ? 0 : Numbered(text);
}

// A word of ASCII letters, digits and "_" that does not begin with a digit.
size_t IdentifierSize(absl::string_view text) {
  size_t size = 0;
  while (size < std::min(text.size(), kLongestName) &&
         (absl::ascii_isalnum(text[size]) || text[size] == '_')) {
    ++size;
  }
  return size > 0 && absl::ascii_isdigit(text[0]) ? 0 : size;
}

// True if a name with a mark before it may begin after `before`: not in a word,
// and not after a quotation ("a":b).
bool MayBegin(absl::string_view before) {
  if (absl::ConsumeSuffix(&before, "\"") || absl::ConsumeSuffix(&before, "'")) {
    return before.empty() || absl::ascii_isspace(before.back()) ||
           IsOneOf(before.back(), "([{");
  }
  return before.empty() ||
         (!ContinuesWord(Last(before)) && !IsOneOf(before.back(), ":$/"));
}

// ":smile:", ":+1:". Chats and GitHub show them as pictures.
size_t ShortcodeSize(absl::string_view text) {
  size_t size = 1;
  while (size < std::min(text.size(), kLongestName) &&
         (absl::ascii_islower(text[size]) || absl::ascii_isdigit(text[size]) ||
          IsOneOf(text[size], "_+-"))) {
    ++size;
  }
  const bool closed = size > 2 && size < text.size() && text[size] == ':';
  return closed && !ContinuesWord(First(text.substr(size + 1)).c) ? size + 1
                                                                  : 0;
}

// Vue's "@:key.path", "@.lower:key" and "@:(key)".
size_t LinkedMessage(absl::string_view before, absl::string_view text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "@") || !MayBegin(before)) return 0;
  if (absl::ConsumePrefix(&rest, ".")) rest.remove_prefix(IdentifierSize(rest));
  if (!absl::ConsumePrefix(&rest, ":")) return 0;
  if (const size_t name = Enclosed(rest, "(", ")", "_.-")) {
    return text.size() - rest.size() + name;
  }
  size_t name = 0;
  while (name < std::min(rest.size(), kLongestName) &&
         (absl::ascii_isalnum(rest[name]) || IsOneOf(rest[name], "_.-"))) {
    ++name;
  }
  while (name > 0 && IsOneOf(rest[name - 1], ".-")) --name;
  return name == 0 ? 0 : text.size() - rest.size() + name;
}

// $t(key), $name, :name, :smile:. The latter have no fewer than two letters:
// ":p" is none.
size_t Marked(absl::string_view before, absl::string_view text) {
  if (absl::StartsWith(text, "$t(")) {
    const size_t size = BalancedSize(text.substr(2), ')', kLongestExpression);
    return size > 0 ? size + 2 : 0;
  }
  if (text[0] != '$' && text[0] != ':') return 0;
  if (!MayBegin(before)) return 0;
  if (text[0] == ':') {
    if (const size_t size = ShortcodeSize(text)) return size;
  }
  const size_t name = IdentifierSize(text.substr(1));
  if (name < 2) return 0;
  const bool ends = !ContinuesWord(First(text.substr(1 + name)).c);
  return ends ? 1 + name : 0;
}

}  // namespace

size_t PlaceholderSize(absl::string_view before, absl::string_view text) {
  if (text.empty() || !IsOneOf(text[0], "{$#%<:@")) return 0;
  return std::max({Braces(text), Percent(before, text), TagSize(text),
                   Marked(before, text), LinkedMessage(before, text)});
}

}  // namespace attend
