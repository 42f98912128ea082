#include "server/documents/literals_addresses.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "server/documents/literals_text.h"

namespace attend {
namespace {

// The longest type of a data URL, with what stands before it.
constexpr size_t kLongestType = 128;

// True if `next` is a character of an address, `last` being the one before it.
// Letters of unspaced scripts are a path of their own ("/wiki/日本"), but after
// what else a path ends with they are the next word.
bool Continues(UChar32 last, UChar32 next, absl::string_view ends) {
  if (next < 0x80) {
    const char c = static_cast<char>(next);
    return c > ' ' && c != 0x7f && ends.find(c) == ends.npos;
  }
  if (!IsWordChar(next)) return false;
  if (!IsUnspaced(next)) return true;
  return last >= 0x80 ||
         absl::StrContains("/=?&#-_.+@", static_cast<char>(last));
}

// Counts brackets of one kind that are open.
class OpenBrackets {
 public:
  OpenBrackets(UChar32 open, UChar32 close) : open_(open), close_(close) {}
  // False: `c` closes one that is not open.
  bool Add(UChar32 c) {
    if (c == open_) ++count_;
    return c != close_ || --count_ >= 0;
  }

 private:
  const UChar32 open_, close_;
  int count_ = 0;
};

// The bytes of a URL, without marks at its end that end a sentence. A bracket
// that closes belongs to it if it opens there, too.
size_t UrlEnd(absl::string_view text) {
  size_t size = 0;
  UChar32 last = 0;
  int slashes = 0;
  OpenBrackets round('(', ')'), square('[', ']');
  while (size < text.size()) {
    const FirstChar next = First(text.substr(size));
    if (!Continues(last, next.c, "<>\"`{}|\\^") || !round.Add(next.c) ||
        !square.Add(next.c)) {
      break;
    }
    slashes += next.c == '/' ? 1 : 0;
    // "https://a.org/" ends a URL more often than it begins one of such a path.
    if (slashes == 3 && last == '/' && IsUnspaced(next.c)) break;
    size += next.bytes;
    last = next.c;
  }
  while (size > 0 && absl::StrContains(".,;:!?'*_~([", text[size - 1])) --size;
  return size;
}

size_t Url(absl::string_view text) {
  for (const absl::string_view scheme :
       {"https://", "http://", "ftp://", "ftps://", "sftp://", "ssh://",
        "git://", "ws://", "wss://", "file://", "mailto:", "tel:", "www."}) {
    if (!absl::StartsWithIgnoreCase(text, scheme)) continue;
    const size_t size = UrlEnd(text);
    if (size > scheme.size()) return size;
  }
  return 0;
}

// "data:image/png;base64,iVBORw0" (RFC 2397), with a type or ";base64".
size_t DataUrl(absl::string_view text) {
  if (!absl::StartsWithIgnoreCase(text, "data:")) return 0;
  size_t comma = std::strlen("data:");
  bool has_type = false;
  while (comma < std::min(text.size(), kLongestType) &&
         (absl::ascii_isalnum(text[comma]) ||
          absl::StrContains("/+.-;=_", text[comma]))) {
    has_type |= text[comma] == '/' || text[comma] == ';';
    ++comma;
  }
  if (!has_type || comma >= text.size() || text[comma] != ',') return 0;
  const absl::string_view rest = text.substr(comma + 1);
  size_t ascii = 0;
  while (ascii < rest.size() && absl::ascii_isgraph(rest[ascii])) ++ascii;
  const size_t data = UrlEnd(rest.substr(0, ascii));
  return data == 0 ? 0 : comma + 1 + data;
}

// The bytes of letters and digits that a part of an address begins with, and of
// `set`. A local part has no letters of unspaced scripts: they are the word
// before it.
size_t PartSize(absl::string_view text, absl::string_view set, bool local) {
  size_t size = 0;
  UChar32 last = 0;
  while (size < std::min(text.size(), kLongestName)) {
    const FirstChar next = First(text.substr(size));
    if (next.c < 0x80) {
      const char c = static_cast<char>(next.c);
      if (!absl::ascii_isalnum(c) && set.find(c) == set.npos) break;
    } else if (!Continues(last, next.c, "") || (local && IsUnspaced(next.c))) {
      break;
    }
    size += next.bytes;
    last = next.c;
  }
  return size;
}

size_t Email(absl::string_view text) {
  const size_t local = PartSize(text, "._%+-", /*local=*/true);
  if (local == 0 || text[0] == '.' || local >= text.size() ||
      text[local] != '@')
    return 0;
  const absl::string_view rest = text.substr(local + 1);
  size_t domain = PartSize(rest, ".-", /*local=*/false);
  while (domain > 0 && absl::StrContains(".-", rest[domain - 1])) --domain;
  const absl::string_view name = rest.substr(0, domain);
  const size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0 || name.size() - dot < 3) return 0;
  return local + 1 + domain;
}

}  // namespace

size_t AddressSize(absl::string_view before, absl::string_view text) {
  const UChar32 last = Last(before);
  // A scheme is known as such behind any other letter, and behind the "_" of
  // emphasis.
  if (last >= 0x80 || !absl::ascii_isalnum(static_cast<char>(last))) {
    if (const size_t size = std::max(Url(text), DataUrl(text))) return size;
  }
  return ContinuesWord(last) ? 0 : Email(text);
}

}  // namespace attend
