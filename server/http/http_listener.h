#ifndef ATTEND_SERVER_HTTP_HTTP_LISTENER_H_
#define ATTEND_SERVER_HTTP_HTTP_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "absl/status/status.h"
#include "server/http/http_session.h"

namespace attend {

// Takes connections and starts their sessions. When the process has no file
// descriptor left, the connection that has waited longest for its client gives
// its own to the new one; if there is none, a spare descriptor does. So probes
// are answered even then. Used on the event loop only, once that runs.
class HttpListener {
 public:
  // Both must outlive the listener.
  HttpListener(boost::asio::io_context& loop, HttpEnvironment& environment);
  ~HttpListener();
  HttpListener(const HttpListener&) = delete;
  HttpListener& operator=(const HttpListener&) = delete;

  // Binds the port of the options. UNAVAILABLE says why it cannot.
  absl::Status Listen();
  // The port that was bound.
  int port() const;

 private:
  using Tcp = boost::asio::ip::tcp;

  void Bind(const Tcp::endpoint& address, boost::system::error_code& error);
  void WaitForConnection();
  void Accept(boost::system::error_code error);
  // Whether a descriptor became free.
  bool FreeDescriptor();
  void KeepSpare();

  HttpEnvironment& environment_;
  Tcp::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  int spare_ = -1;  // an open file descriptor, or -1
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_LISTENER_H_
