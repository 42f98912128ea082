#include "server/documents/character_references.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

struct NamedCharacter {
  absl::string_view name;
  uint32_t code;
  uint32_t second = 0;        // a second character, or 0
  bool no_semicolon = false;  // HTML reads the name without one, too
};

constexpr NamedCharacter kNamed[] = {
#include "server/documents/character_names.inc"
};

// Longest name that needs no semicolon, in bytes.
constexpr size_t kLongestWithout = 6;

// The names that both formats have.
constexpr absl::string_view kOfXml[] = {"amp", "apos", "gt", "lt", "quot"};

// Null if there is no such name.
const NamedCharacter* FindNamed(absl::string_view name, MarkupKind kind) {
  if (kind == MarkupKind::kXml &&
      std::find(std::begin(kOfXml), std::end(kOfXml), name) ==
          std::end(kOfXml)) {
    return nullptr;
  }
  const auto found =
      std::lower_bound(std::begin(kNamed), std::end(kNamed), name,
                       [](const NamedCharacter& c, absl::string_view wanted) {
                         return c.name < wanted;
                       });
  return found != std::end(kNamed) && found->name == name ? found : nullptr;
}

// The names that need no semicolon, in order.
const std::vector<const NamedCharacter*>& WithoutSemicolon() {
  static const auto& names = *[] {
    auto* const found = new std::vector<const NamedCharacter*>();
    for (const NamedCharacter& named : kNamed) {
      if (named.no_semicolon) found->push_back(&named);
    }
    return found;
  }();
  return names;
}

// Characters as which HTML reads numbers 0x80 to 0x9f (section 13.2.5.80):
// windows-1252. 0: a control character.
constexpr uint16_t kWindows1252[] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
    0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

// 0: it is no character, or a control character. `digits` is not empty.
uint32_t CodeOfNumber(absl::string_view digits, bool hex, MarkupKind kind) {
  uint32_t code = 0;
  for (const char c : digits) {
    const int digit = absl::ascii_isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    code = code * (hex ? 16 : 10) + digit;
    if (code > 0x10ffff) return 0;
  }
  if (code >= 0x80 && code < 0xa0 && kind == MarkupKind::kHtml) {
    return kWindows1252[code - 0x80];
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

// Bytes of the longest reference with a semicolon: HTML's longest name has 31
// letters, and numbers may begin with zeros.
constexpr size_t kLongest = 40;

// The bytes at the beginning of `text` for which `is_part` holds, but not so
// many that a reference of them would be too long.
template <class IsPart>
absl::string_view TakePart(absl::string_view text, IsPart is_part) {
  size_t size = 0;
  while (size < std::min(text.size(), kLongest) && is_part(text[size])) ++size;
  return text.substr(0, size);
}

// "#228;", "#xe4;", without the '&'; the semicolon may be absent.
CharacterReference ReadNumber(absl::string_view text, MarkupKind kind) {
  const bool hex = absl::StartsWithIgnoreCase(text, "#x");
  const size_t begin = hex ? 2 : 1;
  const absl::string_view digits = TakePart(text.substr(begin), [&](char c) {
    return hex ? absl::ascii_isxdigit(c) : absl::ascii_isdigit(c);
  });
  if (digits.empty()) return {};
  const size_t end = begin + digits.size();
  const bool ends = end < text.size() && text[end] == ';';
  const uint32_t code = CodeOfNumber(digits, hex, kind);
  if (code == 0 && !ends) return {};
  return {.length = static_cast<int>(1 + end + ends),
          .character = code == 0 ? "" : ToUtf8(code)};
}

CharacterReference Named(const NamedCharacter& named, bool semicolon) {
  std::string character = ToUtf8(named.code);
  if (named.second != 0) character += ToUtf8(named.second);
  return {.length = static_cast<int>(1 + named.name.size() + semicolon),
          .character = std::move(character)};
}

// The longest name at the beginning of `name` that needs no semicolon. XML's
// names need one, so a text in which it is absent is not well-formed; they are
// read if nothing follows that could be a part of the name.
CharacterReference ReadWithoutSemicolon(absl::string_view name,
                                        MarkupKind kind) {
  if (kind == MarkupKind::kXml) {
    const NamedCharacter* const named = FindNamed(name, kind);
    return named == nullptr ? CharacterReference() : Named(*named, false);
  }
  for (size_t size = std::min(name.size(), kLongestWithout); size > 1; --size) {
    const absl::string_view part = name.substr(0, size);
    const auto& names = WithoutSemicolon();
    const auto found =
        std::lower_bound(names.begin(), names.end(), part,
                         [](const NamedCharacter* c, absl::string_view wanted) {
                           return c->name < wanted;
                         });
    if (found != names.end() && (*found)->name == part) {
      return Named(**found, false);
    }
  }
  return {};
}

}  // namespace

CharacterReference ReadReference(absl::string_view text, MarkupKind kind) {
  text.remove_prefix(1);
  if (absl::StartsWith(text, "#")) return ReadNumber(text, kind);
  const absl::string_view name = TakePart(text, [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.' ||
           c == ':' || static_cast<unsigned char>(c) >= 0x80;
  });
  const bool ends = name.size() < text.size() && text[name.size()] == ';' &&
                    !name.empty() && name.size() + 2 <= kLongest;
  if (ends) {
    const NamedCharacter* const named = FindNamed(name, kind);
    if (named != nullptr) return Named(*named, true);
  }
  const CharacterReference found = ReadWithoutSemicolon(name, kind);
  if (found.length > 0 || !ends) return found;
  return {.length = static_cast<int>(name.size() + 2)};
}

void AppendEscaped(absl::string_view text, std::string& to,
                   absl::string_view others) {
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
      case '"':
        to += absl::StrContains(others, c) ? "&quot;" : "\"";
        break;
      default:
        if (absl::StrContains(others, c)) {
          absl::StrAppend(&to, "&#", static_cast<int>(c), ";");
        } else {
          to += c;
        }
    }
  }
}

}  // namespace attend
