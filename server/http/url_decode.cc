#include "server/http/url_decode.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "engine/tensor/check.h"

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
      uint32_t byte = 0;
      ATTEND_CHECK(absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte));
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      return absl::InvalidArgumentError(
          "the url has a % without two hexadecimal digits");
    }
  }
  return decoded;
}

}  // namespace attend
