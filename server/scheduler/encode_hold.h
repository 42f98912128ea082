#ifndef ATTEND_SERVER_SCHEDULER_ENCODE_HOLD_H_
#define ATTEND_SERVER_SCHEDULER_ENCODE_HOLD_H_

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "server/scheduler/participants.h"
#include "server/scheduler/step_cost.h"
#include "server/scheduler/views.h"

namespace attend {

// A step for which new encodes wait, or in which they begin.
struct EncodeSituation {
  absl::Span<const RequestView> waiting;
  absl::Span<const RequestView> running;
  const Participants& participants;
  const StepCost& cost;
  absl::Time now;
  int decoding = 0;     // requests that decode
  int decode_rows = 0;  // of the step
  int enough = 0;       // rows of encodes that are worth a step
};

// True if new requests that want an encode are held back in this step.
//
// While many requests decode, new encodes are held back until together they
// have enough rows for matmuls at full rate, or have waited long enough. Long
// enough means: the sum of their waiting is the delay that reading the
// encoder's weights would cause to all decoding requests together. This
// balances both delays. No request is held back for more than a few steps.
bool HoldsEncodes(const EncodeSituation& step);

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_ENCODE_HOLD_H_
