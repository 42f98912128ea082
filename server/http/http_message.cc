#include "server/http/http_message.h"

#include <algorithm>
#include <boost/beast/http/status.hpp>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace attend {
namespace {

constexpr char kRetryAfter[] = "Retry-After";

// 499 is nginx's: the client has gone.
absl::string_view Reason(int status) {
  namespace http = boost::beast::http;
  if (status == 499) return "Client Closed Request";
  const auto reason = http::obsolete_reason(http::int_to_status(status));
  return absl::string_view(reason.data(), reason.size());
}

std::string FramingHeader(const HttpResponse& response, HttpFraming framing) {
  // The length would be that of the answer which the client has.
  if (response.status == 304) return "";
  switch (framing) {
    case HttpFraming::kLength:
      return absl::StrCat("Content-Length: ", response.body->size(), "\r\n");
    case HttpFraming::kChunks:
      return "Transfer-Encoding: chunked\r\n";
    case HttpFraming::kClose:
      return "";
  }
  return "";
}

// The time of a Retry-After that an answer does not say, in seconds.
constexpr char kSoon[] = "1";

bool AsksToComeAgain(const HttpResponse& response) {
  if (response.status != 429 && response.status != 503) return false;
  return std::none_of(
      response.headers.begin(), response.headers.end(), [](const auto& header) {
        return absl::EqualsIgnoreCase(header.first, kRetryAfter);
      });
}

// RFC 9110, 5.6.7.
std::string HttpDate(absl::Time time) {
  return absl::FormatTime("%a, %d %b %Y %H:%M:%S GMT", time,
                          absl::UTCTimeZone());
}

}  // namespace

std::optional<absl::string_view> HttpRequest::Header(
    absl::string_view name) const {
  std::optional<absl::string_view> found;
  for (const auto& [key, value] : headers) {
    if (!absl::EqualsIgnoreCase(key, name)) continue;
    found = found.has_value() ? "" : value;
  }
  return found;
}

HttpResponse TextResponse(int status, std::string text) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"Cache-Control", "no-store"}},
          .body = std::make_shared<const std::string>(std::move(text))};
}

std::string ResponseHead(const HttpResponse& response, HttpFraming framing,
                         bool keep_alive, const HttpHeaders& more,
                         absl::Time now) {
  std::string head = absl::StrCat(kAnswerVersion, response.status, " ",
                                  Reason(response.status), "\r\n",
                                  "Date: ", HttpDate(now), "\r\n");
  for (const HttpHeaders* headers : {&response.headers, &more}) {
    for (const auto& [name, value] : *headers) {
      absl::StrAppend(&head, name, ": ", value, "\r\n");
    }
  }
  if (AsksToComeAgain(response)) {
    absl::StrAppend(&head, kRetryAfter, ": ", kSoon, "\r\n");
  }
  absl::StrAppend(&head, FramingHeader(response, framing),
                  "Connection: ", keep_alive ? "keep-alive" : "close",
                  "\r\n\r\n");
  return head;
}

std::string Chunk(absl::string_view part) {
  return absl::StrCat(absl::Hex(part.size()), "\r\n", part, "\r\n");
}

}  // namespace attend
