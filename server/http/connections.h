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

// The open connections of a server, which it owns, in the order of their last
// progress: a request that has arrived whole, or an answer that is written.
// Those in front have waited longest for their clients. Used on the event loop
// only.
class Connections {
 public:
  explicit Connections(int limit) : limit_(limit) {}

  // At the limit, closes the one in front first.
  void Add(std::shared_ptr<Connection> connection);
  // It has made progress.
  void Progress(Connection& connection);
  // False: there is none.
  bool CloseOldest();
  void Remove(Connection& connection);

 private:
  const size_t limit_;
  std::list<std::shared_ptr<Connection>> connections_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_CONNECTIONS_H_
