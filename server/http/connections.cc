#include "server/http/connections.h"

#include <utility>

namespace attend {

void Connections::Add(std::shared_ptr<Connection> connection) {
  if (connections_.size() == limit_) CloseOldest();
  Connection& added = *connection;
  added.place_ = connections_.insert(connections_.end(), std::move(connection));
}

void Connections::Progress(Connection& connection) {
  connections_.splice(connections_.end(), connections_, connection.place_);
}

bool Connections::CloseOldest() {
  if (connections_.empty()) return false;
  // Close() removes the connection from the list; this pointer keeps the
  // connection alive until Close() returns.
  const std::shared_ptr<Connection> oldest = connections_.front();
  oldest->Close();
  return true;
}

void Connections::Remove(Connection& connection) {
  connections_.erase(connection.place_);
}

}  // namespace attend
