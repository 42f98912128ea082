#ifndef ATTEND_SERVER_GRPC_CONNECTION_TABLE_H_
#define ATTEND_SERVER_GRPC_CONNECTION_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "server/observability/connection_metrics.h"

namespace attend {

struct ConnectionLimits {
  int connections = 0;
  int per_address = 0;  // 0: no limit
  // The descriptor of a connection must be below this number. The kernel gives
  // the lowest free number, so a descriptor's number tells how many descriptors
  // are in use at least.
  int descriptors = 0;
};

// The connections that were handed to gRPC. gRPC closes connections without
// telling anybody, so Sweep() looks which of them still exist. A connection is
// known by its descriptor and inode: the kernel uses the number of a descriptor
// again, but not the inode of a socket. Not thread-safe.
class ConnectionTable {
 public:
  explicit ConnectionTable(ConnectionLimits limits) : limits_(limits) {}

  // Why a new connection with this descriptor, from this address, is refused;
  // nullopt: it may stay.
  std::optional<ConnectionRefusal> Check(int descriptor,
                                         const std::string& address) const;
  // Adds a connection. An earlier connection with the same descriptor is
  // forgotten.
  void Add(int descriptor, uint64_t inode, const std::string& address);

  // Forgets the connections for which is_open(descriptor, inode) is false.
  void Sweep(const std::function<bool(int, uint64_t)>& is_open);

  int size() const { return static_cast<int>(connections_.size()); }

 private:
  struct Connection {
    uint64_t inode;
    std::string address;
  };
  using Connections = std::unordered_map<int, Connection>;
  Connections::iterator Remove(Connections::iterator connection);

  const ConnectionLimits limits_;
  Connections connections_;  // by descriptor
  std::map<std::string, int> by_address_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_CONNECTION_TABLE_H_
