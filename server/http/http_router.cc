#include "server/http/http_router.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace attend {
namespace {

// The keys of a map as a list: "GET, HEAD".
template <class Map>
std::string Names(const Map& map) {
  return absl::StrJoin(map, ", ", [](std::string* text, const auto& entry) {
    absl::StrAppend(text, entry.first);
  });
}

}  // namespace

void HttpRouter::Add(absl::string_view method, absl::string_view path,
                     HttpHandler handler) {
  MethodTable& methods = paths_[std::string(path)];
  if (method == "GET") methods["HEAD"] = handler;
  methods[std::string(method)] = std::move(handler);
}

void HttpRouter::RefuseAs(absl::string_view path, HttpRefusal refusal) {
  refusals_[std::string(path)] = std::move(refusal);
}

HttpRouter::PathTable::const_iterator HttpRouter::Find(
    absl::string_view path) const {
  const auto exact = paths_.find(path);
  if (exact != paths_.end() && !absl::EndsWith(path, "*")) return exact;
  for (auto entry = paths_.begin(); entry != paths_.end(); ++entry) {
    absl::string_view prefix = entry->first;
    if (absl::ConsumeSuffix(&prefix, "*") && path.size() > prefix.size() &&
        absl::StartsWith(path, prefix)) {
      return entry;
    }
  }
  return paths_.end();
}

std::string HttpRouter::Methods(absl::string_view path) const {
  const auto entry = Find(path);
  return entry == paths_.end() ? "" : Names(entry->second);
}

HttpResponse HttpRouter::AllMethods() const {
  MethodTable all = {{"OPTIONS", nullptr}};
  for (const auto& [path, methods] : paths_) {
    all.insert(methods.begin(), methods.end());
  }
  return {.status = 200, .headers = {{"Allow", Names(all)}}};
}

HttpResponse HttpRouter::Refuse(absl::string_view path, int status,
                                absl::string_view message) const {
  const HttpRefusal* refusal = nullptr;
  for (const auto& [of, form] : refusals_) {  // a longer path comes later
    if (absl::StartsWith(path, of)) refusal = &form;
  }
  if (refusal != nullptr) return (*refusal)(status, message);
  return TextResponse(status, absl::StrCat(message, "\n"));
}

void HttpRouter::Handle(HttpRequest request,
                        std::shared_ptr<HttpExchange> exchange) const {
  if (request.path == "*") return exchange->Reply(AllMethods());
  const auto entry = Find(request.path);
  if (entry == paths_.end()) {
    return exchange->Reply(
        Refuse(request.path, 404,
               absl::StrCat("not found; there are ", Names(paths_))));
  }
  const auto& [path, methods] = *entry;
  const auto method = methods.find(request.method);
  if (method == methods.end()) {
    HttpResponse response = Refuse(request.path, 405, "method not allowed");
    response.headers.emplace_back("Allow", Names(methods));
    return exchange->Reply(std::move(response));
  }
  if (absl::EndsWith(path, "*")) {
    request.path_rest = request.path.substr(path.size() - 1);
  }
  method->second(request, std::move(exchange));
}

}  // namespace attend
