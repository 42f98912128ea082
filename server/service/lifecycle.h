#ifndef ATTEND_SERVER_SERVICE_LIFECYCLE_H_
#define ATTEND_SERVER_SERVICE_LIFECYCLE_H_

#include <atomic>

namespace attend {

// Whether the server is about to end. All calls share one Lifecycle.
struct Lifecycle {
  std::atomic<bool> draining{false};  // new calls are refused
  // Running calls end too, because draining took too long.
  std::atomic<bool> cut{false};
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_LIFECYCLE_H_
