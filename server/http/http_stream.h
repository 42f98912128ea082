#ifndef ATTEND_SERVER_HTTP_HTTP_STREAM_H_
#define ATTEND_SERVER_HTTP_HTTP_STREAM_H_

#include <openssl/ssl.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <optional>
#include <utility>

namespace attend {

// The bytes that a connection sends and receives, with or without TLS. Calls
// handlers as Asio's streams do. Used on the event loop only.
class HttpStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  explicit HttpStream(Socket socket) : socket_(std::move(socket)) {}
  HttpStream(const HttpStream &) = delete;

  executor_type get_executor() { return socket_.get_executor(); }
  Socket &socket() { return socket_; }
  bool has_tls() const { return tls_.has_value(); }

  // Begins TLS with the certificate of `context`, of which the stream becomes
  // an owner. Nothing can be sent before the handshake has ended, which calls
  // `handler`.
  template <class Handler>
  void StartTls(SSL_CTX &context, Handler &&handler) {
    SSL_CTX_up_ref(&context);  // for Asio's, which the stream does not need
    boost::asio::ssl::context of_stream(&context);
    tls_.emplace(socket_, of_stream);
    tls_->async_handshake(boost::asio::ssl::stream_base::server,
                          std::forward<Handler>(handler));
  }
  // The client's certificate, which was checked in the handshake; null: the
  // client has none.
  const X509 *certificate() {
    return has_tls() ? SSL_get0_peer_certificate(tls_->native_handle())
                     : nullptr;
  }
  // Tells the client that no more bytes will come, and waits until the client
  // says the same; then calls `handler`.
  template <class Handler>
  void EndTls(Handler &&handler) {
    tls_->async_shutdown(std::forward<Handler>(handler));
  }

  template <class Buffers, class Handler>
  void async_read_some(const Buffers &buffers, Handler &&handler) {
    if (tls_.has_value()) {
      tls_->async_read_some(buffers, std::forward<Handler>(handler));
    } else {
      socket_.async_read_some(buffers, std::forward<Handler>(handler));
    }
  }
  template <class Buffers, class Handler>
  void async_write_some(const Buffers &buffers, Handler &&handler) {
    if (tls_.has_value()) {
      tls_->async_write_some(buffers, std::forward<Handler>(handler));
    } else {
      socket_.async_write_some(buffers, std::forward<Handler>(handler));
    }
  }

 private:
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket &>> tls_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_STREAM_H_
