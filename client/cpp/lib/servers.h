#ifndef ATTEND_CLIENT_CPP_LIB_SERVERS_H_
#define ATTEND_CLIENT_CPP_LIB_SERVERS_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "attend/v1/attend.grpc.pb.h"
#include "client/cpp/lib/channel.h"
#include "client/cpp/lib/client_options.h"

namespace attend {

// A channel, and the stubs that make calls on it. Thread-safe.
struct ServerConnection {
  explicit ServerConnection(const std::shared_ptr<grpc::Channel>& opened);

  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<v1::Attend::Stub> attend;
  const std::unique_ptr<v1::Admin::Stub> admin;
  UnaryStub unary;
};

// How a client reaches its servers. Without affinity one channel has them all,
// and gRPC balances; else each server has a channel and points on a ring. Names
// of servers that are lost are looked up again, on a thread. Thread-safe.
class Servers {
 public:
  // `options` must outlive the object.
  explicit Servers(const ClientOptions& options);
  ~Servers();  // waits for DNS, if it is being asked

  // The connection for a call, which sends its key (see AffinityKey()): of the
  // key's server, or if that is lost or not serving, of the next one. Without a
  // key: of any.
  std::shared_ptr<ServerConnection> For(const std::string& key,
                                        grpc::ClientContext& context);

 private:
  struct Table;  // the servers that are known; a constant

  // The servers of these addresses. Keeps the connections that there are.
  std::shared_ptr<const Table> MakeTable(
      const std::vector<std::string>& addresses,
      const Table* known = nullptr) const;
  std::shared_ptr<const Table> table();
  std::shared_ptr<ServerConnection> Find(const std::string& key);
  void LookUpAgain();

  const ClientOptions& options_;
  const std::vector<std::string> addresses_;
  bool has_names_ = false;  // that DNS knows; set by the constructor
  std::atomic<uint64_t> calls_without_key_{0};

  std::mutex mutex_;
  std::shared_ptr<const Table> table_;
  bool looking_up_ = false;
  std::chrono::steady_clock::time_point next_look_up_;
  std::thread look_up_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_SERVERS_H_
