#ifndef ATTEND_SERVER_HTTP_REQUEST_LINE_H_
#define ATTEND_SERVER_HTTP_REQUEST_LINE_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace attend {

// What is done where the parser refuses the version of a request. `text` begins
// with the first line of the request; the rest of it need not have arrived.

// True if the line ends with an HTTP of another major version, as that of the
// preface of HTTP/2 does (RFC 9110, 15.6.6).
bool NamesOtherVersion(absl::string_view text);

// A higher minor version is served as the highest one that is known (RFC 9110,
// 2.5): makes HTTP/1.2 HTTP/1.1. Returns false if that is not the version.
bool LowerMinorVersion(absl::Span<char> text);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_REQUEST_LINE_H_
