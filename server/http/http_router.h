#ifndef ATTEND_SERVER_HTTP_HTTP_ROUTER_H_
#define ATTEND_SERVER_HTTP_HTTP_ROUTER_H_

#include <functional>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/http_message.h"

namespace attend {

// Which handler answers which method of which path. Filled before the server
// starts, then constant.
class HttpRouter {
 public:
  // The handler of GET answers HEAD too.
  void Add(absl::string_view method, absl::string_view path,
           HttpHandler handler);

  // Answers 404 if the path is unknown, and 405 if the path has no handler for
  // the method.
  void Handle(const HttpRequest& request, HttpReply reply) const;

 private:
  using Methods = std::map<std::string, HttpHandler, std::less<>>;

  HttpResponse NotFound() const;

  std::map<std::string, Methods, std::less<>> paths_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_ROUTER_H_
