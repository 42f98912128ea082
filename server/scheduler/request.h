#ifndef ATTEND_SERVER_SCHEDULER_REQUEST_H_
#define ATTEND_SERVER_SCHEDULER_REQUEST_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/api/engine.h"

namespace attend {

// Payload of RESOURCE_EXHAUSTED from a full queue: when to try again, as a
// duration in text form ("250ms", see absl::ParseDuration).
inline constexpr char kRetryAfterUrl[] = "attend/retry-after";

// Payload of RESOURCE_EXHAUSTED from a limit of one tenant: other tenants might
// not have been refused. The payload is empty.
inline constexpr char kTenantLimitUrl[] = "attend/tenant-limit";

// Priorities are in [-kMaxPriority, kMaxPriority].
inline constexpr int kMaxPriority = 10;

// The tenant of a request. Tenants share each model by their weights.
struct Tenant {
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  uint64_t id = 0;  // opaque; 0: requests without a tenant
  int weight = 1;   // at least 1
  // The most requests of the tenant that wait, and that run, in each model. At
  // least 1. A preempted request does not count towards max_queued.
  int max_queued = kNoLimit;
  int max_running = kNoLimit;
};

// The steps in which a phase of a request had a piece; sums over those steps.
struct PhaseSteps {
  int steps = 0;
  int64_t rows = 0;    // of all requests
  int64_t inputs = 0;  // the requests that had a piece
};

// When the stations of a request were reached; InfinitePast: not yet. And what
// it took part in between.
struct RequestTimes {
  absl::Time arrival = absl::InfinitePast();
  absl::Time started = absl::InfinitePast();      // first piece planned
  absl::Time encoded = absl::InfinitePast();      // the source is encoded
  absl::Time prompted = absl::InfinitePast();     // the prompt is computed
  absl::Time first_token = absl::InfinitePast();  // first new output
  absl::Time ended = absl::InfinitePast();
  // What a preempted request replays while it decodes is a part of its decode.
  PhaseSteps encode = {}, prompt = {}, decode = {};
};

// Receives the output of a request. Called on the worker's thread, under no
// lock. An implementation must not block, log or call the scheduler.
class RequestListener {
 public:
  virtual ~RequestListener() = default;

  // Called once a step while the request waits or runs. True ends the request
  // with CANCELLED. Any thread may make the answer true.
  virtual bool cancelled() const = 0;

  // Called after each step that made the output grow, the last one too.
  // `output` is valid during the call.
  virtual void OnOutput(const SequenceOutput& output,
                        const RequestTimes& times) = 0;

  // Called exactly once for every submitted request, as the last call. `output`
  // is complete if the status is OK; else it holds the output before the error.
  virtual void OnDone(const absl::Status& status, const SequenceOutput& output,
                      const RequestTimes& times) = 0;
};

// One input's work, before and while it runs.
struct Request {
  std::string id;  // for logs; several inputs of one call share it
  Tenant tenant = {};
  int priority = 0;  // within the tenant, higher goes first; waiting raises it
  absl::Time deadline = absl::InfiniteFuture();
  int source_tokens = 0;  // counted in the queue's limit of tokens
  std::unique_ptr<Sequence> sequence;
  RequestListener* listener = nullptr;  // outlives the request
  RequestTimes times;                   // arrival is set by Submit()
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_REQUEST_H_
