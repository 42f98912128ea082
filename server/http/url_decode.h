#ifndef ATTEND_SERVER_HTTP_URL_DECODE_H_
#define ATTEND_SERVER_HTTP_URL_DECODE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace attend {

enum class UrlPart { kPath, kForm };  // in a form, a plus is a space

// The bytes that a part of a URL stands for: "%20" is a space. INVALID_ARGUMENT
// if a percent sign is not followed by two hexadecimal digits.
absl::StatusOr<std::string> DecodeUrl(absl::string_view text, UrlPart part);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_URL_DECODE_H_
