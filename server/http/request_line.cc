#include "server/http/request_line.h"

#include "absl/strings/ascii.h"

namespace attend {
namespace {

// Places in "HTTP/1.1".
constexpr size_t kMajor = 5;
constexpr size_t kMinor = 7;

// The version that ends the first line of `text`; empty: none does.
absl::string_view VersionIn(absl::string_view text) {
  constexpr absl::string_view kForm = " HTTP/d.d";
  const absl::string_view line = text.substr(0, text.find('\r'));
  const size_t at = line.rfind(kForm.substr(0, kMajor + 1));
  if (at == line.npos || line.size() != at + kForm.size()) return "";
  const absl::string_view version = line.substr(at + 1);
  return absl::ascii_isdigit(version[kMajor]) && version[kMajor + 1] == '.' &&
                 absl::ascii_isdigit(version[kMinor])
             ? version
             : "";
}

}  // namespace

bool NamesOtherVersion(absl::string_view text) {
  const absl::string_view version = VersionIn(text);
  return !version.empty() && version[kMajor] != '1';
}

bool LowerMinorVersion(absl::Span<char> text) {
  const absl::string_view version = VersionIn({text.data(), text.size()});
  if (version.empty() || version[kMajor] != '1' || version[kMinor] < '2') {
    return false;
  }
  text[version.data() + kMinor - text.data()] = '1';
  return true;
}

}  // namespace attend
