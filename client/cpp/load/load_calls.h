#ifndef ATTEND_CLIENT_CPP_LOAD_LOAD_CALLS_H_
#define ATTEND_CLIENT_CPP_LOAD_LOAD_CALLS_H_

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "attend/v1/attend.grpc.pb.h"
#include "client/cpp/lib/channel.h"
#include "client/cpp/load/load.h"

namespace attend {

// The time since an unspecified start, on a clock that is never set.
absl::Duration SteadyNow();

// The stubs that calls are made with. Both use one channel.
struct LoadStubs {
  LoadStubs(const std::shared_ptr<grpc::Channel>& channel, Metadata of_each)
      : attend(channel), unary(channel), metadata(std::move(of_each)) {}

  v1::Attend::Stub attend;
  UnaryStub unary;
  const Metadata metadata;  // of each call
};

// One call. It has one operation at a time in flight on the completion queue;
// the operation's tag is the call.
class LoadCall {
 public:
  LoadCall(const LoadStubs& stubs, absl::Duration due, absl::Duration timeout)
      : due_(due) {
    SetTimeout(context_, timeout);
    AddMetadata(context_, stubs.metadata);
  }
  virtual ~LoadCall() = default;

  // Handles the end of the operation and starts the next one. False: the call
  // has ended.
  virtual bool Proceed(bool ok) = 0;
  void Cancel() { context_.TryCancel(); }

  CallRecord TakeRecord() {
    record_.code = static_cast<absl::StatusCode>(status_.error_code());
    if (status_.ok()) record_.code = input_code_;
    record_.total = SteadyNow() - due_;
    return std::move(record_);
  }

 protected:
  void NoteInput(const InputOutcome& input) {
    if (input.status.code() != 0) {
      input_code_ = static_cast<absl::StatusCode>(input.status.code());
    }
    ++record_.inputs;
    record_.tokens += input.usage.generated_tokens();
    record_.source_tokens += input.usage.source_tokens();
    if (!input.timings.has_queue()) return;
    const absl::Duration queue =
        absl::Seconds(input.timings.queue().seconds()) +
        absl::Nanoseconds(input.timings.queue().nanos());
    record_.queue = std::max(record_.queue.value_or(queue), queue);
  }

  const absl::Duration due_;
  grpc::ClientContext context_;
  grpc::Status status_;
  absl::StatusCode input_code_ = absl::StatusCode::kOk;
  CallRecord record_;
};

// Starts a call. `request` must outlive it. With `stream`, GenerateStream is
// called instead of Generate. Times count from `due`, a time of SteadyNow().
std::unique_ptr<LoadCall> StartCall(LoadStubs& stubs,
                                    grpc::CompletionQueue& queue,
                                    const LoadRequest& request, bool stream,
                                    absl::Duration due, absl::Duration timeout);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_LOAD_CALLS_H_
