#ifndef ATTEND_CLIENT_CPP_LIB_ATTEMPTS_H_
#define ATTEND_CLIENT_CPP_LIB_ATTEMPTS_H_

#include <grpcpp/grpcpp.h>

#include <deque>
#include <mutex>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cpp/lib/cancellation.h"
#include "client/cpp/lib/client_options.h"

namespace attend {

// How an attempt ended.
struct AttemptOutcome {
  absl::Status status;
  // When the server wants to see the call again; negative: never.
  std::optional<absl::Duration> hint = std::nullopt;
  bool is_final = false;  // whatever the policy says
  bool went_on = false;   // it brought something new of a stream
};

AttemptOutcome AttemptOutcomeOf(const grpc::ClientContext& context,
                                const grpc::Status& status);
AttemptOutcome CancelledByCaller();

// The attempts of one call. They share its deadline and its metadata, and are
// cancelled together. What is given must outlive the object.
class Attempts {
 public:
  // `timeout` is that of the call.
  Attempts(const ClientOptions& options, const CallOptions& call,
           absl::Duration timeout);

  // Makes attempts until one succeeds or is final, the policy gives up, or the
  // caller cancels. One that went on counts as the first.
  absl::Status Run(absl::FunctionRef<AttemptOutcome()> attempt);

  // Of an attempt, which may have several; they live as long as it. Each says
  // the server how many there were before.
  grpc::ClientContext& NewContext();
  // Cancels all contexts of the attempt.
  void Cancel();

 private:
  // An attempt with its contexts.
  AttemptOutcome RunOne(absl::FunctionRef<AttemptOutcome()> attempt);
  bool IsCancelled();
  // False: the call was cancelled meanwhile.
  bool Pause(absl::Duration time);

  const ClientOptions& options_;
  const CallOptions& call_;
  const absl::Time deadline_;
  Cancellation never_;
  Cancellation& cancellation_;

  std::mutex mutex_;
  bool cancelled_ = false;
  int made_ = 0;  // contexts
  std::deque<grpc::ClientContext> contexts_;
};

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LIB_ATTEMPTS_H_
