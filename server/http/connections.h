#ifndef ATTEND_SERVER_HTTP_CONNECTIONS_H_
#define ATTEND_SERVER_HTTP_CONNECTIONS_H_

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
};

// Owns the open connections of a server. They are in the order of their last
// progress: a request that has arrived as a whole, or an answer that has been
// written. The connection in front has waited longest for its client. Used on
// the event loop only.
class Connections {
 public:
  explicit Connections(int limit) : limit_(limit) {}

  // Adds a connection. At the limit, closes the connection in front first.
  void Add(std::shared_ptr<Connection> connection);
  // To be called when the connection has made progress.
  void Progress(Connection& connection);
  // Closes the connection in front. False: there is no connection.
  bool CloseOldest();
  void Remove(Connection& connection);

 private:
  const size_t limit_;
  std::list<std::shared_ptr<Connection>> connections_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CONNECTIONS_H_
