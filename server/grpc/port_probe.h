#ifndef ATTEND_SERVER_GRPC_PORT_PROBE_H_
#define ATTEND_SERVER_GRPC_PORT_PROBE_H_

#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "absl/time/time.h"

namespace attend {

struct PortProbeOptions {
  absl::Duration interval = absl::Seconds(5);
  // For an answer. Higher: a dead port is seen later, a busy one is not taken
  // for dead.
  absl::Duration timeout = absl::Seconds(2);
  // Probes in a row without an answer, after which the port is dead.
  int failures = 3;
};

// Asks a port again and again, over the loopback, whether somebody answers. A
// probe connects and says at once that no data will come: a server that reads
// from its connections closes it, whatever its protocol, or greets first.
// Thread-safe.
class PortProbe {
 public:
  explicit PortProbe(const sockaddr_storage& address,
                     PortProbeOptions options = {});
  ~PortProbe();
  PortProbe(const PortProbe&) = delete;
  PortProbe& operator=(const PortProbe&) = delete;

  bool alive() const { return alive_; }
  // One probe: true if there was an answer in time.
  bool Ask() const;

 private:
  void RunThread();
  bool WaitForNext();

  const PortProbeOptions options_;
  const sockaddr_storage address_;
  std::atomic<bool> alive_{true};

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_PORT_PROBE_H_
