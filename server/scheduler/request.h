#ifndef ATTEND_SERVER_SCHEDULER_REQUEST_H_
#define ATTEND_SERVER_SCHEDULER_REQUEST_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"

namespace attend {

// Payload of RESOURCE_EXHAUSTED from a full queue: when to try again, as a
// duration in text form ("250ms", see absl::ParseDuration).
inline constexpr char kRetryAfterUrl[] = "attend/retry-after";

// When things happened to a request; InfinitePast: not yet.
struct RequestTimes {
  absl::Time arrival = absl::InfinitePast();
  absl::Time started = absl::InfinitePast();      // first piece planned
  absl::Time encoded = absl::InfinitePast();      // the source is encoded
  absl::Time first_token = absl::InfinitePast();  // first new output
  absl::Time ended = absl::InfinitePast();
};

// Who waits for a request. Called by the worker's thread, under no lock; must
// not block, log or call back into the scheduler.
class RequestListener {
 public:
  virtual ~RequestListener() = default;

  // Asked once a step while the request waits or runs. True ends the request
  // with CANCELLED. Any thread may make it true.
  virtual bool cancelled() const = 0;

  // After each step that made the output grow, the last one too. `output` is
  // valid in the call.
  virtual void OnOutput(const SequenceOutput& output,
                        const RequestTimes& times) = 0;

  // Exactly once for every submitted request, as its last call. `output` is
  // complete if the status is OK; else it is what came before the error.
  virtual void OnDone(const absl::Status& status, const SequenceOutput& output,
                      const RequestTimes& times) = 0;
};

// One input's work, before and while it runs.
struct Request {
  std::string id;    // for logs; several inputs of one call share it
  int priority = 0;  // higher goes first; waiting raises it
  absl::Time deadline = absl::InfiniteFuture();
  int source_tokens = 0;  // what it counts in the queue's bound
  std::unique_ptr<Sequence> sequence;
  RequestListener* listener = nullptr;  // outlives the request
  RequestTimes times;                   // arrival is set by Submit()
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_REQUEST_H_
