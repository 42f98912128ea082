#ifndef ATTEND_SERVER_OBSERVABILITY_INFERENCE_TOTALS_H_
#define ATTEND_SERVER_OBSERVABILITY_INFERENCE_TOTALS_H_

#include <cstdint>

#include "absl/time/time.h"

namespace attend {

// The time of a call by phase. With several inputs each phase is the
// mean; the phases add up to the whole call.
struct CallParts {
  absl::Duration read;     // from the arrival until the input is in the queue
  absl::Duration queue;    // until it is first computed
  absl::Duration compute;  // until it has ended
  absl::Duration answer;   // until the call has ended
  absl::Duration whole() const { return read + queue + compute + answer; }
};

// The work of a model since startup. A call with several inputs is one
// call.
struct InferenceTotals {
  struct Calls {
    int64_t count = 0;
    absl::Duration time;  // total
  };

  Calls succeeded;
  Calls failed;
  CallParts parts;     // sums, of calls that succeeded
  int64_t inputs = 0;  // that were computed
  int64_t steps = 0;   // engine steps
  // End of the last call that succeeded. InfinitePast: there was none.
  absl::Time last = absl::InfinitePast();

  void Add(bool success, int computed_inputs, const CallParts& call,
           absl::Time now);
};

}  // namespace attend

#endif  // ATTEND_SERVER_OBSERVABILITY_INFERENCE_TOTALS_H_
