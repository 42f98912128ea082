#include "server/http/connections.h"

#include <utility>

namespace attend {

void Connections::Add(std::shared_ptr<Connection> connection) {
  if (waiting_.size() + busy_.size() == limit_) CloseOldest();
  Connection& added = *connection;
  added.place_ = waiting_.insert(waiting_.end(), std::move(connection));
}

void Connections::Progress(Connection& connection) {
  waiting_.splice(waiting_.end(), ListOf(connection), connection.place_);
  connection.busy_ = false;
}

bool Connections::MakeBusy(Connection& connection) {
  if (connection.busy_) return true;
  if (busy_.size() >= max_busy()) return false;
  busy_.splice(busy_.end(), waiting_, connection.place_);
  connection.busy_ = true;
  return true;
}

bool Connections::CloseOldest() {
  const List& list = waiting_.empty() ? busy_ : waiting_;
  if (list.empty()) return false;
  // Close() removes the connection from the list; this pointer keeps the
  // connection alive until Close() returns.
  const std::shared_ptr<Connection> oldest = list.front();
  oldest->Close();
  return true;
}

void Connections::CloseAll() {
  while (CloseOldest()) {
  }
}

void Connections::Remove(Connection& connection) {
  ListOf(connection).erase(connection.place_);
}

}  // namespace attend
