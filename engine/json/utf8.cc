#include "engine/json/utf8.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

// Table 3-7 of the Unicode standard: the second byte's range by first byte.
struct Lead {
  unsigned char first, last;  // first byte
  int length;
  unsigned char low, high;  // second byte
};
constexpr Lead kLeads[] = {
    {0x00, 0x7f, 1, 0, 0},       {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf}, {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
};

}  // namespace

Utf8Char FirstUtf8Char(absl::string_view text) {
  const auto byte = [&](int i) { return static_cast<unsigned char>(text[i]); };
  const auto* lead = std::find_if(
      std::begin(kLeads), std::end(kLeads),
      [&](const Lead& l) { return byte(0) >= l.first && byte(0) <= l.last; });
  if (lead == std::end(kLeads)) return {0, false, 1};
  for (int i = 1; i < lead->length; ++i) {
    if (static_cast<size_t>(i) == text.size()) return {0, true, i};
    const unsigned char low = i == 1 ? lead->low : 0x80;
    const unsigned char high = i == 1 ? lead->high : 0xbf;
    if (byte(i) < low || byte(i) > high) return {0, false, i};
  }
  return {lead->length, false, 0};
}

size_t FindInvalidUtf8(absl::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const int length = FirstUtf8Char(text.substr(at)).length;
    if (length == 0) return at;
    at += length;
  }
  return absl::string_view::npos;
}

std::string ReplaceInvalidUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = FirstUtf8Char(text).length;
    absl::StrAppend(&valid, length > 0 ? text.substr(0, length) : kReplacement);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return valid;
}

}  // namespace attend
