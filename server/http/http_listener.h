#ifndef ATTEND_SERVER_HTTP_HTTP_LISTENER_H_
#define ATTEND_SERVER_HTTP_HTTP_LISTENER_H_

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
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

  // Binds the port of the options at all addresses that the host stands for, or
  // takes over the socket that they have. "0.0.0.0" and "::" stand for all
  // addresses of both families, as on the gRPC port. UNAVAILABLE if that is
  // impossible, with the reason.
  absl::Status Listen();
  // Goes on after a lack of memory has kept the listener from waiting.
  void KeepWaiting();
  // The port that was bound.
  int port() const;

 private:
  using Tcp = boost::asio::ip::tcp;
  using ErrorCode = boost::system::error_code;

  // A socket that listens.
  struct Door {
    explicit Door(boost::asio::io_context& loop)
        : acceptor(loop), pause(loop) {}

    Tcp::acceptor acceptor;
    boost::asio::steady_timer pause;
    bool waits = false;  // for a connection, or for the end of a pause
  };

  void Bind(const std::string& host, ErrorCode& error);
  // Binds those of the addresses that the machine has, all at one port. An
  // error: no address, or one that another process has.
  void BindEach(const Tcp::resolver::results_type& addresses,
                bool both_families, ErrorCode& error);
  void Adopt(int socket, ErrorCode& error);
  void WaitForConnection(Door& door);
  void Accept(Door& door, ErrorCode error);
  // Whether a descriptor became free.
  bool FreeDescriptor();
  void KeepSpare();

  boost::asio::io_context& loop_;
  HttpEnvironment& environment_;
  std::list<Door> doors_;  // at least one once Listen() has succeeded
  int spare_ = -1;         // an open file descriptor, or -1
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_LISTENER_H_
