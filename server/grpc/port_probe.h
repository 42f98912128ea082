#ifndef ATTEND_SERVER_GRPC_PORT_PROBE_H_
#define ATTEND_SERVER_GRPC_PORT_PROBE_H_

#include <sys/socket.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

struct PortProbeOptions {
  absl::Duration interval = absl::Seconds(5);
  // The longest wait for an answer. Higher: a dead port is noticed later, but a
  // busy port is not taken for dead.
  absl::Duration timeout = absl::Seconds(2);
  // The port counts as dead after this many successive probes without an
  // answer.
  int failures = 3;
};

// Asks a port again and again, over the loopback, whether a server answers. A
// probe connects, and says at once that it will send no data. A server that
// reads from its connections then closes the connection or sends a greeting,
// whatever its protocol. Thread-safe.
class PortProbe {
 public:
  explicit PortProbe(const sockaddr_storage& address,
                     PortProbeOptions options = {});
  ~PortProbe();
  PortProbe(const PortProbe&) = delete;
  PortProbe& operator=(const PortProbe&) = delete;

  bool alive() const { return alive_; }
  // Asks no more: alive() stays as it is.
  void Stop();
  // Makes one probe. True: there was an answer in time.
  bool Ask() const;

 private:
  void RunThread();
  bool WaitForNext();

  const PortProbeOptions options_;
  const sockaddr_storage address_;
  std::atomic<bool> alive_{true};

  Mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_PORT_PROBE_H_
