#ifndef ATTEND_SERVER_HTTP_CONNECTIONS_H_
#define ATTEND_SERVER_HTTP_CONNECTIONS_H_

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>

namespace attend {

// An open connection, as Connections sees it.
class Connection {
 public:
  virtual ~Connection() = default;
  // Frees the descriptor at once, and leaves Connections.
  virtual void Close() = 0;

 private:
  friend class Connections;
  std::list<std::shared_ptr<Connection>>::iterator place_;
  bool busy_ = false;
};

// Owns the open connections of a server. Most wait for their clients; they are
// in the order of their last progress: a request that has arrived as a whole,
// or an answer that has been written. The connection in front has waited
// longest. Others are busy: their clients wait for the server. An eighth of the
// connections is kept free of busy ones, so that a new connection always finds
// one that it may replace. Used on the event loop only.
class Connections {
 public:
  explicit Connections(int limit) : limit_(limit) {}

  // Adds a connection. At the limit, closes the connection in front first.
  void Add(std::shared_ptr<Connection> connection);
  // The connection has made progress, and waits for its client.
  void Progress(Connection& connection);
  // The client waits for the server. False, and nothing changes: there are
  // max_busy() such connections already.
  bool MakeBusy(Connection& connection);
  // Closes the connection in front; if all are busy, the one that has been busy
  // for longest. False: there is no connection.
  bool CloseOldest();
  void CloseAll();
  void Remove(Connection& connection);

  size_t max_busy() const {
    return std::max<size_t>(limit_ - std::max<size_t>(limit_ / 8, 1), 1);
  }

 private:
  using List = std::list<std::shared_ptr<Connection>>;
  List& ListOf(const Connection& connection) {
    return connection.busy_ ? busy_ : waiting_;
  }

  const size_t limit_;
  List waiting_, busy_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CONNECTIONS_H_
