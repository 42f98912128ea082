#ifndef ATTEND_SERVER_SERVICE_CALL_ENVIRONMENT_H_
#define ATTEND_SERVER_SERVICE_CALL_ENVIRONMENT_H_

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "server/budget/request_budget.h"
#include "server/service/call_context.h"
#include "server/service/heap_trimmer.h"
#include "server/service/lifecycle.h"
#include "server/service/live_calls.h"
#include "server/service/service.h"
#include "server/service/unread_answers.h"
#include "server/service/work_pool.h"
#include "server/tenants/tenants.h"
#include "server/tracing/call_trace.h"

namespace attend {

// What all calls share, whatever their protocol. Outlives the calls.
struct CallEnvironment {
  CallEnvironment(Service served, int tokenizer_threads,
                  int max_tokenizer_queue)
      : service(std::move(served)),
        sandbox_pool(Sandbox::kProcesses, max_tokenizer_queue),
        pool(tokenizer_threads, max_tokenizer_queue),
        heap(absl::Seconds(1), [] { malloc_trim(0); }) {}

  // New calls end with UNAVAILABLE. A call that was let in before goes on, with
  // all of its inputs.
  void Drain() { lifecycle.draining = true; }
  // After Drain(): true once all calls that the engine computes have ended;
  // false if `timeout` passed first.
  bool WaitUntilIdle(absl::Duration timeout) {
    return computed_calls.WaitForNone(timeout);
  }
  // Running calls end with UNAVAILABLE too, within a step.
  void Cut() {
    lifecycle.draining = true;
    lifecycle.cut = true;
  }

  const Service service;
  Lifecycle lifecycle;
  // For work that waits for the Sandbox: one process each.
  WorkPool sandbox_pool;
  WorkPool pool;  // gives work to the other, so it ends before
  HeapTrimmer heap;
  UnreadAnswers unread{service.max_unread_bytes};
  // Calls that start, and started calls whose inputs the engine computes, until
  // their answers have been sent.
  LiveCalls computed_calls;
  // Of requests that arrive, or wait to be read.
  RequestBudget requests{service.max_request_bytes, [this](size_t bytes) {
                           heap.Freed(static_cast<int64_t>(bytes));
                         }};
};

// Who calls, as the protocol knows. All of it is read before Begin() returns.
// The proof is needed only where there are tenants.
struct Caller {
  // The address without the port; see TenantOf().
  absl::string_view host;
  CallerProof proof;
  TraceHeaders trace = {};
  // How often the client has made the call before, as it says.
  int attempts_before = 0;
};

// How a call ended, as its protocol knows.
struct CallEnd {
  absl::Status status;       // as it was sent to the client
  bool gone = false;         // the client left before it got a status
  bool slow_reader = false;  // the client did not read its answers
  int http_status = 0;       // that was sent; 0: none
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_CALL_ENVIRONMENT_H_
