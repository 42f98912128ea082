#include "server/http/http_message.h"

#include <boost/beast/http/status.hpp>

#include "absl/strings/str_cat.h"

namespace attend {

HttpResponse TextResponse(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"Cache-Control", "no-store"}},
          .body = std::make_shared<const std::string>(std::move(text))};
}

std::string ResponseHead(const HttpResponse& response, bool keep_alive) {
  namespace http = boost::beast::http;
  const auto reason =
      http::obsolete_reason(http::int_to_status(response.status));
  std::string head =
      absl::StrCat("HTTP/1.1 ", response.status, " ",
                   absl::string_view(reason.data(), reason.size()), "\r\n");
  for (const auto& [name, value] : response.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  absl::StrAppend(&head, "Content-Length: ", response.body->size(),
                  "\r\nConnection: ", keep_alive ? "keep-alive" : "close",
                  "\r\n\r\n");
  return head;
}

}  // namespace attend
