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
  // A connection's descriptor is below this. The kernel gives the lowest number
  // that is free, so a number says how many descriptors are in use at least.
  int descriptors = 0;
};

// The connections that were handed to gRPC, which closes them without a word:
// who is gone is found by looking. A descriptor's number comes again, the inode
// of its socket does not. Not thread-safe.
class ConnectionTable {
 public:
  explicit ConnectionTable(ConnectionLimits limits) : limits_(limits) {}

  // Why a new connection with this descriptor, of this client, may not stay.
  std::optional<ConnectionRefusal> Check(int descriptor,
                                         const std::string& address) const;
  // What had the same descriptor before is gone.
  void Add(int descriptor, uint64_t inode, const std::string& address);

  // Forgets those of whom `is_open` (descriptor, inode) is false.
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
