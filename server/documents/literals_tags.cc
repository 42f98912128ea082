#include "server/documents/literals_tags.h"

#include <algorithm>
#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "server/documents/literals_text.h"

namespace attend {
namespace {

constexpr size_t kLongestValue = 256;
constexpr size_t kLongestAttributes = 1024;

// Inline elements of XLIFF whose end tags stand in texts.
constexpr std::array<absl::string_view, 9> kXliffElements = {
    "g", "pc", "mrk", "ph", "bpt", "ept", "it", "sub", "ex"};

// The bytes of space and an attribute in quotation marks.
size_t AttributeSize(absl::string_view text) {
  const size_t spaces = std::min(text.size(), text.find_first_not_of(' '));
  const size_t name = NameSize(text.substr(spaces), "_-:.");
  absl::string_view rest = text.substr(spaces + name);
  if (spaces == 0 || name == 0 || !absl::ConsumePrefix(&rest, "=") ||
      rest.empty() || !absl::StrContains("\"'", rest[0])) {
    return 0;
  }
  const size_t end = rest.substr(0, kLongestValue).find(rest[0], 1);
  return end == rest.npos ? 0 : text.size() - rest.size() + end + 1;
}

// <x id="1"/>, <g id="2">, </g>: a tag with attributes, or an end tag of XLIFF.
size_t NamedTag(absl::string_view text) {
  absl::string_view rest = text;
  absl::ConsumePrefix(&rest, "<");
  const bool closes = absl::ConsumePrefix(&rest, "/");
  const absl::string_view name = rest.substr(0, NameSize(rest, "_-:"));
  if (name.empty() || !absl::ascii_isalpha(name[0])) return 0;
  rest.remove_prefix(name.size());
  if (closes) {
    if (!absl::c_linear_search(kXliffElements, name)) return 0;
  } else {
    size_t attributes = 0;
    while (attributes < kLongestAttributes) {
      const size_t size = AttributeSize(rest.substr(attributes));
      if (size == 0) break;
      attributes += size;
    }
    if (attributes == 0) return 0;
    rest.remove_prefix(attributes);
    absl::ConsumePrefix(&rest, " ");
    absl::ConsumePrefix(&rest, "/");
  }
  return absl::ConsumePrefix(&rest, ">") ? text.size() - rest.size() : 0;
}

}  // namespace

size_t TagSize(absl::string_view text) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, "<")) return 0;
  if (const size_t size = NamedTag(text)) return size;
  const bool closes = absl::ConsumePrefix(&rest, "/");
  const size_t digits =
      std::min(rest.size(), rest.find_first_not_of("0123456789"));
  if (digits == 0 || digits > 4) return 0;
  rest.remove_prefix(digits);
  if (!closes) {
    absl::ConsumePrefix(&rest, " ");
    absl::ConsumePrefix(&rest, "/");
  }
  if (!absl::ConsumePrefix(&rest, ">")) return 0;
  return text.size() - rest.size();
}

}  // namespace attend
