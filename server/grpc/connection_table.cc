#include "server/grpc/connection_table.h"

namespace attend {

std::optional<ConnectionRefusal> ConnectionTable::Check(
    int descriptor, const std::string& address) const {
  if (descriptor >= limits_.descriptors) return ConnectionRefusal::kDescriptors;
  if (size() >= limits_.connections) return ConnectionRefusal::kTotal;
  if (limits_.per_address == 0) return std::nullopt;
  const auto found = by_address_.find(address);
  if (found == by_address_.end() || found->second < limits_.per_address) {
    return std::nullopt;
  }
  return ConnectionRefusal::kAddress;
}

void ConnectionTable::Add(int descriptor, uint64_t inode,
                          const std::string& address) {
  const auto old = connections_.find(descriptor);
  if (old != connections_.end()) Remove(old);
  int& count = by_address_[address];
  connections_.emplace(descriptor, Connection{inode, address});
  ++count;  // last: if there is no memory, nothing is counted
}

void ConnectionTable::Sweep(const std::function<bool(int, uint64_t)>& is_open) {
  for (auto i = connections_.begin(); i != connections_.end();) {
    i = is_open(i->first, i->second.inode) ? std::next(i) : Remove(i);
  }
}

ConnectionTable::Connections::iterator ConnectionTable::Remove(
    Connections::iterator connection) {
  const auto address = by_address_.find(connection->second.address);
  if (--address->second == 0) by_address_.erase(address);
  return connections_.erase(connection);
}

}  // namespace attend
