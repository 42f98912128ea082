#ifndef ATTEND_CLIENT_CPP_LIB_CANCELLATION_H_
#define ATTEND_CLIENT_CPP_LIB_CANCELLATION_H_

#include <functional>
#include <mutex>

namespace attend {

// Lets another thread cancel a call. An object serves one call at a time.
// Thread-safe.
class Cancellation {
 public:
  // Ends the call that was given this object with CANCELLED, even if the call
  // begins later.
  void Cancel();

 private:
  friend class Client;
  // False: cancelled already. `cancel` is called until Leave() returns.
  bool Enter(std::function<void()> cancel);
  void Leave();

  std::mutex mutex_;
  bool cancelled_ = false;
  std::function<void()> cancel_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_CANCELLATION_H_
