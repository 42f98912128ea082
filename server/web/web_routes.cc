#include "server/web/web_routes.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/web/embedded_files.h"

namespace attend {
namespace {

std::string TypeOf(absl::string_view name) {
  const std::pair<absl::string_view, const char*> types[] = {
      {".html", "text/html"},
      {".css", "text/css"},
      {".js", "text/javascript"},
      {".svg", "image/svg+xml"},
  };
  for (const auto& [ending, type] : types) {
    if (absl::EndsWith(name, ending)) {
      return absl::StrCat(type, "; charset=utf-8");
    }
  }
  return "text/plain; charset=utf-8";
}

// The page gets files, calls and metrics from this server, and nothing else;
// no text becomes markup or code; no other page may have it inside.
HttpHeaders PageHeaders() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
           "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
           "frame-ancestors 'none'; require-trusted-types-for 'script'; "
           "trusted-types 'none'"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Referrer-Policy", "no-referrer"},
          {"X-Frame-Options", "DENY"}};
}

// A client that has the file already asks each time whether it has changed.
void AddFile(absl::string_view path, const EmbeddedFile& file,
             HttpHeaders headers, HttpRouter& router) {
  const std::string tag =
      absl::StrCat("\"",
                   absl::Hex(std::hash<std::string_view>()(
                       std::string_view(file.text.data(), file.text.size()))),
                   "\"");
  headers.emplace_back("Cache-Control", "no-cache");
  headers.emplace_back("ETag", tag);
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  const HttpResponse unchanged = {.status = 304, .headers = headers};
  headers.emplace_back("Content-Type", TypeOf(file.name));
  const HttpResponse whole = {
      .headers = std::move(headers),
      .body = std::make_shared<const std::string>(file.text)};
  router.Add("GET", path,
             [tag, unchanged, whole](const HttpRequest& request,
                                     std::shared_ptr<HttpExchange> exchange) {
               const auto known = request.Header("If-None-Match");
               exchange->Reply(known == tag ? unchanged : whole);
             });
}

}  // namespace

void AddPageRoutes(HttpRouter& router) {
  for (const EmbeddedFile& file : PageFiles()) {
    const std::string path =
        file.name == "index.html" ? "/" : absl::StrCat("/page/", file.name);
    AddFile(path, file, PageHeaders(), router);
  }
}

void AddProtoRoutes(HttpRouter& router) {
  for (const EmbeddedFile& file : ProtoFiles()) {
    AddFile(absl::StrCat("/", file.name), file, {}, router);
  }
}

}  // namespace attend
