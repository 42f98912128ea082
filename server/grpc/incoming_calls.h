#ifndef ATTEND_SERVER_GRPC_INCOMING_CALLS_H_
#define ATTEND_SERVER_GRPC_INCOMING_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>

#include "absl/strings/string_view.h"
#include "engine/tensor/mutex.h"
#include "server/grpc/incoming_call.h"

namespace attend {

// The calls that arrive at servers of this process, by libgrpc's streams and by
// number. Where libgrpc creates a stream, its call gets a number, which is
// added to its metadata as kIncomingCallKey, so that the call that is served
// finds it. Thread-safe.
class IncomingCalls {
 public:
  // Of calls that begin from now on.
  void set_max_message_bytes(size_t bytes);

  // A stream begins; it is not there yet.
  std::shared_ptr<IncomingCall> Add(const void* stream);
  // Null: the stream is a client's.
  std::shared_ptr<IncomingCall> OfStream(const void* stream) const;
  // `number` as it is in the metadata; null: the stream has gone, or libgrpc is
  // not followed.
  std::shared_ptr<IncomingCall> OfNumber(absl::string_view number) const;
  // The stream ends.
  void Remove(const void* stream);

  // Those of all servers of this process.
  static IncomingCalls& OfProcess();

 private:
  mutable Mutex mutex_;
  size_t max_message_bytes_ ABSL_GUARDED_BY(mutex_) =
      std::numeric_limits<size_t>::max();
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<const void*, std::shared_ptr<IncomingCall>> by_stream_
      ABSL_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, std::shared_ptr<IncomingCall>> by_number_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_INCOMING_CALLS_H_
