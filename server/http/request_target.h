#ifndef ATTEND_SERVER_HTTP_REQUEST_TARGET_H_
#define ATTEND_SERVER_HTTP_REQUEST_TARGET_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace attend {

// The target of a request. Refers to the text that it was read from.
struct RequestTarget {
  // Not decoded, and without the query. "*" stands for the server as a whole.
  absl::string_view path;
  absl::string_view query = {};      // without the question mark
  absl::string_view authority = {};  // of an absolute-form; else empty
};

// Reads a target in origin-form, absolute-form or asterisk-form (RFC 9112,
// 3.2). The authority-form belongs to CONNECT, which only proxies serve.
// Returns nothing if the target is malformed or does not fit the method.
std::optional<RequestTarget> ParseTarget(absl::string_view method,
                                         absl::string_view target);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_REQUEST_TARGET_H_
