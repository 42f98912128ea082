#include "client/cpp/top/http_get.h"

#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"

namespace attend {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

constexpr uint64_t kMostBytes = uint64_t{64} << 20;

struct Url {
  bool tls = false;
  std::string host;
  std::string port;
  std::string path;
};

absl::StatusOr<Url> ParseUrl(absl::string_view text) {
  absl::string_view rest = text;
  Url url;
  url.tls = absl::ConsumePrefix(&rest, "https://");
  if (!url.tls && !absl::ConsumePrefix(&rest, "http://")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "URL '", text, "' begins with neither http:// nor https://"));
  }
  const size_t slash = rest.find('/');
  const absl::string_view place = rest.substr(0, slash);
  url.path =
      slash == absl::string_view::npos ? "/" : std::string(rest.substr(slash));
  // An IPv6 address stands in brackets.
  const size_t bracket = place.rfind(']');
  const size_t colon =
      place.find(':', bracket == absl::string_view::npos ? 0 : bracket);
  url.host = std::string(place.substr(0, colon));
  if (absl::StartsWith(url.host, "[") && absl::EndsWith(url.host, "]")) {
    url.host = url.host.substr(1, url.host.size() - 2);
  }
  url.port = colon == absl::string_view::npos
                 ? (url.tls ? "443" : "80")
                 : std::string(place.substr(colon + 1));
  if (url.host.empty() || url.port.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("URL '", text, "' has no host or no port"));
  }
  return url;
}

// One request over an open connection. Runs the loop until it has ended.
template <class Stream>
absl::StatusOr<std::string> Exchange(asio::io_context& loop, Stream& stream,
                                     const Url& url,
                                     const HttpGetOptions& options) {
  http::request<http::empty_body> request(http::verb::get, url.path, 11);
  request.set(http::field::host, absl::StrCat(url.host, ":", url.port));
  request.set(http::field::user_agent, "attend");
  request.set(http::field::connection, "close");
  if (!options.token.empty()) {
    request.set(http::field::authorization,
                absl::StrCat("Bearer ", options.token));
  }
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMostBytes);
  error_code error;
  http::async_write(stream, request, [&](error_code write_error, size_t) {
    error = write_error;
    if (error) return;
    http::async_read(
        stream, buffer, parser,
        [&](error_code read_error, size_t) { error = read_error; });
  });
  loop.restart();
  loop.run();
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(options.url, ": ", error.message()));
  }
  const auto& answer = parser.get();
  if (answer.result() == http::status::ok) return answer.body();
  const std::string words = absl::StrCat(
      options.url, ": ", answer.result_int(), " ",
      absl::string_view(answer.reason().data(), answer.reason().size()));
  return answer.result() == http::status::unauthorized
             ? absl::UnauthenticatedError(words)
             : absl::UnknownError(words);
}

absl::StatusOr<std::string> OverTls(asio::io_context& loop,
                                    beast::tcp_stream& connection,
                                    const Url& url,
                                    const HttpGetOptions& options) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  error_code error;
  if (options.ca.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(options.ca, error);
  }
  if (error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot read the CAs '", options.ca, "': ", error.message()));
  }
  beast::ssl_stream<beast::tcp_stream&> stream(connection, context);
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.set_verify_callback(asio::ssl::host_name_verification(url.host));
  SSL_set_tlsext_host_name(stream.native_handle(), url.host.c_str());
  stream.async_handshake(asio::ssl::stream_base::client,
                         [&](error_code handshake) { error = handshake; });
  loop.restart();
  loop.run();
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(options.url, ": TLS: ", error.message()));
  }
  return Exchange(loop, stream, url, options);
}

}  // namespace

absl::StatusOr<std::string> HttpGetBody(const HttpGetOptions& options) {
  absl::StatusOr<Url> url = ParseUrl(options.url);
  if (!url.ok()) return url.status();
  asio::io_context loop;
  error_code error;
  asio::ip::tcp::resolver resolver(loop);
  const auto places = resolver.resolve(url->host, url->port, error);
  beast::tcp_stream connection(loop);
  if (!error) {
    connection.expires_after(absl::ToChronoMilliseconds(options.timeout));
    connection.async_connect(
        places, [&](error_code connect, const auto&) { error = connect; });
    loop.run();
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(options.url, ": ", error.message()));
  }
  return url->tls ? OverTls(loop, connection, *url, options)
                  : Exchange(loop, connection, *url, options);
}

}  // namespace attend
