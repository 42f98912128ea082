#ifndef ATTEND_SERVER_HTTP_HTTP_MESSAGE_H_
#define ATTEND_SERVER_HTTP_HTTP_MESSAGE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace attend {

// What a handler sees of a request's head. Valid until the handler returns.
struct HttpRequest {
  absl::string_view method;
  absl::string_view path;            // as sent: not decoded, without the query
  absl::string_view query = {};      // what follows the question mark
  absl::string_view target = {};     // as sent, in any of its forms
  absl::string_view authority = {};  // that the request is for; may be empty
  int version = 11;                  // 10: HTTP/1.0
  // What follows the prefix of a route that ends in '*'; see HttpRouter.
  absl::string_view path_rest = {};
  // The address of the client without its port, as gRPC writes it:
  // "ipv4:10.0.0.1" or "ipv6:[::1]".
  absl::string_view host = {};
  std::vector<std::pair<absl::string_view, absl::string_view>> headers = {};
  // The names in the client's certificate, which was checked; see
  // CertificateNames(). Null: the client has none.
  const std::vector<std::string>* certificate_names = nullptr;

  // The value of a header, whose name may have any case. Empty if the client
  // sent it several times; none if the client did not send it.
  std::optional<absl::string_view> Header(absl::string_view name) const;
};

// Names and values.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 200;
  // Without those that the session adds: Content-Length, Transfer-Encoding,
  // Connection, Date, those of CORS, and a Retry-After if a status that asks
  // the client to come again has none.
  HttpHeaders headers;
  // Shared, so that many slow readers hold one copy. Never null.
  std::shared_ptr<const std::string> body =
      std::make_shared<const std::string>();
  // Of a stream: bytes without a meaning for the client, which are sent
  // whenever nothing else was for HttpOptions::stream_keepalive. Empty: none.
  absl::string_view filler = {};
};

// A response in plain text, with a header that forbids caching.
HttpResponse TextResponse(int status, std::string text);

// How a client finds the end of a body.
enum class HttpFraming {
  kLength,  // by Content-Length
  kChunks,  // by the last chunk
  kClose    // by the end of the connection
};

// The lines of a response before its body. `more`: headers in addition to those
// of the response. `now` becomes the header Date.
std::string ResponseHead(const HttpResponse& response, HttpFraming framing,
                         bool keep_alive, const HttpHeaders& more,
                         absl::Time now);
// All answers begin with it (RFC 9112, 4).
inline constexpr absl::string_view kAnswerVersion = "HTTP/1.1 ";

// A part of a body as a chunk. Not empty: an empty chunk would be the last.
std::string Chunk(absl::string_view part);
// What follows the last chunk.
inline constexpr absl::string_view kLastChunk = "0\r\n\r\n";

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_MESSAGE_H_
