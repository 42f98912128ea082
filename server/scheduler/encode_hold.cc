#include "server/scheduler/encode_hold.h"

namespace attend {
namespace {

// What an encode of a few rows takes, mostly the reading of weights, as a
// fraction of the fixed time of a step: an encoder has about two thirds of the
// weights of its decoder, and no projection to the vocabulary.
constexpr double kEncodeFixed = 0.5;
// If fewer requests decode, too few of them end and are followed by others: an
// encode would wait too long for company.
constexpr int kMinCompany = 12;
// No request is held for longer than this many quiet steps.
constexpr double kMaxHoldSteps = 4;

}  // namespace

bool HoldsEncodes(const EncodeSituation& step) {
  if (step.decoding < kMinCompany) return false;
  for (const RequestView& view : step.running) {
    // There is an encode anyway.
    if (step.participants.Has(view) && view.work.phase == Phase::kEncode)
      return false;
  }
  const double longest =
      kMaxHoldSteps * step.cost.QuietSeconds(step.decode_rows);
  int rows = 0;
  double waited = 0;  // seconds, of all together
  for (const RequestView& view : step.waiting) {
    if (view.work.phase != Phase::kEncode || !step.participants.Has(view) ||
        !step.participants.HasPlace(view)) {
      continue;
    }
    const double seconds = absl::ToDoubleSeconds(step.now - view.arrival);
    rows += view.work.rows;
    waited += seconds;
    if (rows >= step.enough || seconds >= longest ||
        view.blocks_when_preempted > 0) {
      return false;
    }
  }
  return waited < kEncodeFixed * step.cost.QuietSeconds(0) * step.decode_rows;
}

}  // namespace attend
