#ifndef ATTEND_SERVER_HTTP_HTTP_SESSION_H_
#define ATTEND_SERVER_HTTP_HTTP_SESSION_H_

#include <boost/asio/ip/tcp.hpp>

#include "server/http/connections.h"
#include "server/http/http_options.h"
#include "server/http/http_router.h"

namespace attend {

class Certificates;

// What the sessions of a server share. Must outlive the event loop.
struct HttpEnvironment {
  const HttpOptions options;
  const HttpRouter router;
  const Certificates* const certificates;  // null: plain text
  Connections connections;
};

// Serves a connection: one request after the other, until the client closes the
// connection, is late or breaks the protocol. `environment.connections` owns
// the session. Runs on the socket's event loop only.
void StartSession(boost::asio::ip::tcp::socket socket,
                  HttpEnvironment& environment);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_HTTP_SESSION_H_
