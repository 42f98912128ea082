#ifndef ATTEND_SERVER_HTTP_HTTP_MESSAGE_H_
#define ATTEND_SERVER_HTTP_HTTP_MESSAGE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// What a handler sees of a request. Valid until the handler returns.
struct HttpRequest {
  absl::string_view method;
  absl::string_view path;  // as sent: not decoded, without the query
  absl::string_view authorization = {};  // empty: none, or more than one
};

struct HttpResponse {
  int status = 200;
  // Names and values. Without Content-Length and Connection, which the session
  // adds.
  std::vector<std::pair<std::string, std::string>> headers;
  // Shared, so that many slow readers hold one copy. Never null.
  std::shared_ptr<const std::string> body;
};

// A response in plain text, with a header that forbids caching.
HttpResponse TextResponse(int status, std::string text);

// The lines of a response before its body.
std::string ResponseHead(const HttpResponse& response, bool keep_alive);

// Takes the response to one request. Called once, from any thread, while the
// server lives. A response to a client that has gone is dropped.
using HttpReply = std::function<void(HttpResponse)>;

// A handler replies at once, or keeps `reply` and replies later. Called on the
// event loop, so a handler must not wait.
using HttpHandler =
    std::function<void(const HttpRequest& request, HttpReply reply)>;

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_MESSAGE_H_
