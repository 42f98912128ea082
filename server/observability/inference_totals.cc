#include "server/observability/inference_totals.h"

namespace attend {

void InferenceTotals::Add(bool success, int computed_inputs,
                          const CallParts& call, absl::Time now) {
  inputs += computed_inputs;
  Calls& calls = success ? succeeded : failed;
  ++calls.count;
  calls.time += call.whole();
  if (!success) return;
  parts.read += call.read;
  parts.queue += call.queue;
  parts.compute += call.compute;
  parts.answer += call.answer;
  last = now;
}

}  // namespace attend
