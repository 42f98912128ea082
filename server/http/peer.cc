#include "server/http/peer.h"

#include <boost/asio/ip/address.hpp>

#include "absl/strings/str_cat.h"

namespace attend {
namespace {

using boost::asio::ip::address;

// A socket of both families has IPv4 addresses as IPv6 (RFC 4291, 2.5.5.2).
address Unmapped(const address& mapped) {
  if (!mapped.is_v6() || !mapped.to_v6().is_v4_mapped()) return mapped;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped,
                                          mapped.to_v6());
}

}  // namespace

std::string PeerOf(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const address peer = Unmapped(socket.remote_endpoint(error).address());
  return peer.is_v4() ? absl::StrCat("ipv4:", peer.to_string())
                      : absl::StrCat("ipv6:[", peer.to_string(), "]");
}

bool IsLocalPeer(const boost::asio::ip::tcp::socket& socket) {
  boost::system::error_code error;
  const address here = Unmapped(socket.local_endpoint(error).address());
  const address peer = Unmapped(socket.remote_endpoint(error).address());
  return here.is_loopback() || here == peer;
}

}  // namespace attend
