#include "server/http/http_router.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace attend {
namespace {

// The keys of a map as a list: "GET, HEAD".
template <class Map>
std::string Names(const Map& map) {
  return absl::StrJoin(map, ", ", [](std::string* text, const auto& entry) {
    absl::StrAppend(text, entry.first);
  });
}

HttpResponse MethodNotAllowed(std::string allowed) {
  HttpResponse response = TextResponse(405, "method not allowed\n");
  response.headers.emplace_back("Allow", std::move(allowed));
  return response;
}

}  // namespace

void HttpRouter::Add(absl::string_view method, absl::string_view path,
                     HttpHandler handler) {
  Methods& methods = paths_[std::string(path)];
  if (method == "GET") methods["HEAD"] = handler;
  methods[std::string(method)] = std::move(handler);
}

void HttpRouter::Handle(const HttpRequest& request, HttpReply reply) const {
  const auto path = paths_.find(request.path);
  if (path == paths_.end()) return reply(NotFound());
  const Methods& methods = path->second;
  const auto method = methods.find(request.method);
  if (method == methods.end()) {
    return reply(MethodNotAllowed(Names(methods)));
  }
  method->second(request, std::move(reply));
}

HttpResponse HttpRouter::NotFound() const {
  return TextResponse(
      404, absl::StrCat("not found; there are ", Names(paths_), "\n"));
}

}  // namespace attend
