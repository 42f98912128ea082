#ifndef ATTEND_CLIENT_CPP_LIB_CANCELLATION_H_
#define ATTEND_CLIENT_CPP_LIB_CANCELLATION_H_

#include <condition_variable>
#include <functional>
#include <mutex>

#include "absl/time/time.h"

namespace attend {

// Lets another thread cancel a call. An object serves one call at a time.
// Thread-safe.
class Cancellation {
 public:
  // Ends the call that was given this object with CANCELLED, even if the call
  // begins later.
  void Cancel();

 private:
  friend class Attempts;
  // False: cancelled already. `cancel` is called until Leave() returns.
  bool Enter(std::function<void()> cancel);
  void Leave();
  // Returns after that time, or once it is cancelled: false.
  bool Sleep(absl::Duration time);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;
  std::function<void()> cancel_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CANCELLATION_H_
