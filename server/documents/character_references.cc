#include "server/documents/character_references.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace attend {
namespace {

struct NamedCharacter {
  absl::string_view name;
  uint32_t code;
};

constexpr NamedCharacter kNamed[] = {
#include "server/documents/character_names.inc"
};

// The names that both formats have; "apos" is not in HTML 4.
constexpr absl::string_view kOfXml[] = {"amp", "apos", "gt", "lt", "quot"};

// 0: none.
uint32_t CodeOf(absl::string_view name, MarkupKind kind) {
  if (name == "apos") return '\'';
  if (kind == MarkupKind::kXml &&
      std::find(std::begin(kOfXml), std::end(kOfXml), name) ==
          std::end(kOfXml)) {
    return 0;
  }
  const auto found =
      std::lower_bound(std::begin(kNamed), std::end(kNamed), name,
                       [](const NamedCharacter& c, absl::string_view wanted) {
                         return c.name < wanted;
                       });
  return found != std::end(kNamed) && found->name == name ? found->code : 0;
}

// 0: it is no character, or a control character.
uint32_t CodeOfNumber(absl::string_view digits) {
  const bool hex = absl::StartsWithIgnoreCase(digits, "x");
  if (hex) digits.remove_prefix(1);
  uint32_t code = 0;
  for (const char c : digits) {
    if (!(hex ? absl::ascii_isxdigit(c) : absl::ascii_isdigit(c))) return 0;
    const int digit = absl::ascii_isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    code = code * (hex ? 16 : 10) + digit;
    if (code > 0x10ffff) return 0;
  }
  const bool space = code == '\t' || code == '\n' || code == '\r';
  const bool control = (code < 0x20 && !space) || (code >= 0x7f && code < 0xa0);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return control || surrogate || (code & 0xfffe) == 0xfffe ? 0 : code;
}

std::string ToUtf8(uint32_t code) {
  const auto byte = [](uint32_t value) { return static_cast<char>(value); };
  const auto tail = [&](int shift) {
    return byte(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xc0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {byte(0xe0 | (code >> 12)), tail(6), tail(0)};
  return {byte(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

// The longest reference; HTML's longest name has 31 letters, and numbers may
// begin with zeros.
constexpr size_t kLongest = 40;

}  // namespace

CharacterReference ReadReference(absl::string_view text, MarkupKind kind) {
  const size_t end = text.substr(0, kLongest).find(';');
  if (end == text.npos || end < 2) return {};
  absl::string_view name = text.substr(1, end - 1);
  const bool number = name[0] == '#';
  if (number) name.remove_prefix(1);
  const bool whole =
      !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.' ||
               c == ':' || static_cast<unsigned char>(c) >= 0x80;
      });
  if (!whole) return {};
  const uint32_t code = number ? CodeOfNumber(name) : CodeOf(name, kind);
  return {.length = static_cast<int>(end + 1),
          .character = code == 0 ? "" : ToUtf8(code)};
}

void AppendEscaped(absl::string_view text, std::string& to) {
  for (const char c : text) {
    switch (c) {
      case '&':
        to += "&amp;";
        break;
      case '<':
        to += "&lt;";
        break;
      case '>':
        to += "&gt;";
        break;
      default:
        to += c;
    }
  }
}

}  // namespace attend
