#ifndef ATTEND_SERVER_HTTP_HTTP_LISTENER_H_
#define ATTEND_SERVER_HTTP_HTTP_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string>

#include "absl/status/status.h"
#include "server/http/http_session.h"

namespace attend {

// Accepts connections and starts their sessions. If the process has no file
// descriptor left, the listener closes the connection that has waited longest
// for its client, to have a descriptor for the new one. If there is no such
// connection, it uses a spare descriptor. Thus probes are answered even then.
// Once the event loop runs, used on the loop only.
class HttpListener {
 public:
  // `loop` and `environment` must outlive the listener.
  HttpListener(boost::asio::io_context& loop, HttpEnvironment& environment);
  ~HttpListener();
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  // Binds the port of the options, or takes over the socket that they have.
  // UNAVAILABLE if that is impossible, with the reason.
  absl::Status Listen();
  // Goes on after a lack of memory has kept the listener from waiting.
  void KeepWaiting();
  // The port that was bound.
  int port() const;

 private:
  using Tcp = boost::asio::ip::tcp;

  void Bind(const std::string& host, int port,
            boost::system::error_code& error);
  void Adopt(int socket, boost::system::error_code& error);
  void SetForConnections(boost::system::error_code& error);
  void WaitForConnection();
  void Accept(boost::system::error_code error);
  // Whether a descriptor became free.
  bool FreeDescriptor();
  void KeepSpare();

  HttpEnvironment& environment_;
  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  bool waits_ = false;  // for a connection, or for the end of a pause
  int spare_ = -1;      // an open file descriptor, or -1
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_LISTENER_H_
