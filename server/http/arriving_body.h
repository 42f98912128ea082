#ifndef ATTEND_SERVER_HTTP_ARRIVING_BODY_H_
#define ATTEND_SERVER_HTTP_ARRIVING_BODY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "server/budget/request_budget.h"
#include "server/http/http_options.h"

namespace attend {

// Counts the bytes of a request's body while it arrives: for the RequestBudget,
// and for the time that the client may take. Not thread-safe.
class ArrivingBody {
 public:
  // As of RequestBudget::Entry.
  ArrivingBody(RequestBudget& budget, uint64_t tenant,
               std::function<void()> cut)
      : entry_(budget, tenant, std::move(cut)) {}

  // The body has `size` bytes now. False: there is no room for them.
  bool GrowTo(size_t size) {
    return entry_.Grow(size - std::exchange(size_, size));
  }
  // True once for each kPaceBytes: the client has a new time limit.
  bool KeepsPace() {
    if (size_ - paced_ < kPaceBytes) return false;
    paced_ = size_;
    return true;
  }
  // The body is whole.
  RequestBytes Take() { return entry_.Take(size_); }

 private:
  RequestBudget::Entry entry_;
  size_t size_ = 0;
  size_t paced_ = 0;  // the size at the last time limit
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_ARRIVING_BODY_H_
