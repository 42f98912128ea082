#ifndef ATTEND_SERVER_GRPC_INCOMING_CALL_H_
#define ATTEND_SERVER_GRPC_INCOMING_CALL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/mutex.h"
#include "server/budget/request_budget.h"

namespace attend {

// What a client sends of one gRPC call, followed where libgrpc takes it from
// the connection. A message that is not wanted is refused when its head of five
// bytes is there, before anything else of it is kept. The messages of a call
// count in the RequestBudget from their first byte on. Shared by libgrpc's
// stream, which calls OnData(), and by the call that is served. Thread-safe.
class IncomingCall {
 public:
  // Messages have at most `max_message_bytes` until Accept() says otherwise.
  IncomingCall(uint64_t number, size_t max_message_bytes)
      : number_(number), max_message_bytes_(max_message_bytes) {}
  ~IncomingCall() { Leave(); }
  IncomingCall(const IncomingCall&) = delete;
  IncomingCall& operator=(const IncomingCall&) = delete;

  uint64_t number() const { return number_; }

  // Of libgrpc's stream, one thread at a time.
  // Messages may be compressed; otherwise one that is says so wrongly.
  void AllowCompression();
  // The next bytes of the messages. An error ends the call with this status:
  // RESOURCE_EXHAUSTED or INTERNAL.
  absl::Status OnData(absl::string_view bytes);

  // Of the call that is served.
  struct Terms {
    RequestBudget& budget;  // must outlive the call's Leave()
    uint64_t tenant = 0;    // Tenant::id
    std::optional<size_t> max_message_bytes = {};
    // Asks the call to end because others need its memory; see RequestBudget.
    std::function<void()> cut = {};
  };
  // The call is to be read, on these terms. An error of OnData() if what has
  // come so far does not meet them.
  absl::Status Accept(Terms terms);
  // The call has read its next message, which has `size` bytes now that it is
  // unpacked. They go back when the message has gone. RESOURCE_EXHAUSTED: there
  // is no room for them.
  absl::StatusOr<RequestBytes> TakeMessage(size_t size);
  // The call was cut. Returns the status that a client is told.
  absl::Status RefuseCut();
  // The call is at its end. It is no longer cut.
  void Leave();
  // Why the call was refused; OK: it was not.
  absl::Status refusal() const;

 private:
  static constexpr size_t kHeadBytes = 5;

  absl::Status Follow(absl::string_view bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckHead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckLength() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint64_t number_;
  mutable Mutex mutex_;
  size_t max_message_bytes_ ABSL_GUARDED_BY(mutex_);
  bool may_compress_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);

  // Of the message that arrives.
  uint8_t head_[kHeadBytes] ABSL_GUARDED_BY(mutex_) = {};
  size_t head_size_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t length_ ABSL_GUARDED_BY(mutex_) = 0;  // known once its head is there
  uint64_t left_ ABSL_GUARDED_BY(mutex_) = 0;    // bytes that are still to come
  size_t cost_ ABSL_GUARDED_BY(mutex_) = 0;      // bytes of memory

  // Costs of messages that have arrived and are not taken yet.
  std::list<size_t> arrived_ ABSL_GUARDED_BY(mutex_);
  // Set while the call is served.
  std::optional<RequestBudget::Entry> entry_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_INCOMING_CALL_H_
