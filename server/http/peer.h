#ifndef ATTEND_SERVER_HTTP_PEER_H_
#define ATTEND_SERVER_HTTP_PEER_H_

#include <boost/asio/ip/tcp.hpp>
#include <string>

namespace attend {

// The address of the client without its port, as gRPC writes it:
// "ipv4:10.0.0.1" or "ipv6:[::1]".
std::string PeerOf(const boost::asio::ip::tcp::socket& socket);

// True if the client runs on this machine, or in its network namespace.
bool IsLocalPeer(const boost::asio::ip::tcp::socket& socket);

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_PEER_H_
