#ifndef ATTEND_CLIENT_CPP_LIB_HEDGING_H_
#define ATTEND_CLIENT_CPP_LIB_HEDGING_H_

#include <google/protobuf/message.h>

#include <functional>
#include <mutex>

#include "absl/time/time.h"
#include "client/cpp/lib/attempts.h"
#include "client/cpp/lib/channel.h"

namespace attend {

// How many calls of a client may be sent once more, so that an overload is not
// made worse: ten at once, then one for two that were answered in time.
// Thread-safe.
class HedgeBudget {
 public:
  // False: none.
  bool Take();
  void AnsweredInTime();

 private:
  std::mutex mutex_;
  double left_ = 10;
};

// Begins a call, and returns its reader, which will tell the queue.
// `is_second`: another call with the same request has no answer yet.
using BeginUnary = std::function<std::unique_ptr<UnaryReader>(
    grpc::ClientContext& context, grpc::CompletionQueue& queue,
    bool is_second)>;

// An attempt of a unary call. If there is no answer `after` this time, and the
// budget allows it, the call is made once more; the first answer counts, and
// the other call is cancelled.
AttemptOutcome CallUnaryOnce(Attempts& attempts, const BeginUnary& begin,
                             absl::Duration after, HedgeBudget& budget,
                             google::protobuf::Message& response);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_HEDGING_H_
