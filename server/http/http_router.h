#ifndef ATTEND_SERVER_HTTP_HTTP_ROUTER_H_
#define ATTEND_SERVER_HTTP_HTTP_ROUTER_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "server/http/http_exchange.h"
#include "server/http/http_message.h"

namespace attend {

// Which handler answers which method of which path. Filled before the server
// starts, then constant.
class HttpRouter {
 public:
  // The handler of GET answers HEAD too. A path that ends in '*' stands for all
  // paths with what is before it, if there is at least one more character.
  void Add(absl::string_view method, absl::string_view path,
           HttpHandler handler);
  // What is refused below this path, or at it, is refused in this form. The
  // longest path counts; without any, refusals are plain text.
  void RefuseAs(absl::string_view path, HttpRefusal refusal);

  // Answers 404 if the path is unknown, and 405 if the path has no handler for
  // the method. The path "*" of OPTIONS gets the methods of all paths.
  void Handle(HttpRequest request,
              std::shared_ptr<HttpExchange> exchange) const;
  // The refusal of a request for `path`.
  HttpResponse Refuse(absl::string_view path, int status,
                      absl::string_view message) const;
  // The methods of a path as a list: "GET, HEAD". Empty: there is no such path.
  std::string Methods(absl::string_view path) const;

 private:
  using MethodTable = std::map<std::string, HttpHandler, std::less<>>;
  using PathTable = std::map<std::string, MethodTable, std::less<>>;

  // The entry of a path; at its prefix, if the entry has a '*'.
  PathTable::const_iterator Find(absl::string_view path) const;
  HttpResponse AllMethods() const;

  PathTable paths_;
  std::map<std::string, HttpRefusal, std::less<>> refusals_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_ROUTER_H_
