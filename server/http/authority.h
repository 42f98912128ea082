#ifndef ATTEND_SERVER_HTTP_AUTHORITY_H_
#define ATTEND_SERVER_HTTP_AUTHORITY_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace attend {

// The host and the port that a URI, a header Host or an Origin names (RFC 3986,
// 3.2.2 and 3.2.3).
struct Authority {
  // In lower case, without the brackets and the zone of an IPv6 address, and
  // without the dot that may end a name of DNS. May be empty.
  std::string host;
  absl::string_view port = {};  // digits, perhaps none; refers to the text
};

// Returns nothing if `text` is not an authority. User information is refused,
// as RFC 9110, 4.2.4 recommends.
std::optional<Authority> ParseAuthority(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_AUTHORITY_H_
