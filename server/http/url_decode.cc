#include "server/http/url_decode.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace attend {

absl::StatusOr<std::string> DecodeUrl(absl::string_view text, UrlPart part) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && part == UrlPart::kForm) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else if (i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
               absl::ascii_isxdigit(text[i + 2])) {
      decoded += absl::HexStringToBytes(text.substr(i + 1, 2));
      i += 2;
    } else {
      return absl::InvalidArgumentError(
          "the url has a % without two hexadecimal digits");
    }
  }
  return decoded;
}

}  // namespace attend
