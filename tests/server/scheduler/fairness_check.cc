#include "tests/server/scheduler/fairness_check.h"

#include <algorithm>
#include <cstddef>

namespace attend {

// Twice what the theory allows: that is twice what one tenant has of all places
// until its requests end, where steps cost no more than their rows.
FairnessCheck::FairnessCheck(const Scenario& scenario)
    : scenario_(scenario),
      got_(scenario.weights.size()),
      pairs_(got_.size() * got_.size()) {
  int rows = 1, tokens = 1, beams = 1, pauses = 0;
  for (const ScenarioEvent& event : scenario.events) {
    rows = std::max(rows, event.task.source + event.task.prompt);
    tokens = std::max(tokens, event.task.tokens);
    beams = std::max(beams, event.task.beams);
    pauses += event.kind == ScenarioEvent::Kind::kSlowStep ||
              event.kind == ScenarioEvent::Kind::kSetClock;
  }
  const SimulatedMachine& machine = scenario.machine;
  const int places = scenario.options.max_running;
  const int most_rows = MostStepRows(scenario);
  // An encode and a prompt are steps of their own.
  const int steps =
      2 + places * rows / most_rows + tokens * (places * beams / most_rows + 1);
  allowed_ = 4 * (steps * machine.fixed +
                  places * (machine.prompt_row * rows +
                            machine.decode_row * beams * tokens));
  // A pause counts like some steps, however long it is.
  const int full = std::min(most_rows, places * std::max(rows, beams));
  allowed_ +=
      16 * pauses * std::max(machine.Micros(full, 0), machine.Micros(0, full));
}

double FairnessCheck::OnStep(const std::vector<char>& waits,
                             const std::vector<int>& decode_rows,
                             const std::vector<int>& prompt_rows) {
  const SimulatedMachine& machine = scenario_.machine;
  int rows = 0;
  double all = 0;  // microseconds that all rows add to the step
  for (size_t t = 0; t < got_.size(); ++t) {
    rows += decode_rows[t] + prompt_rows[t];
    got_[t] = machine.Micros(decode_rows[t], prompt_rows[t]) - machine.fixed;
    all += got_[t];
  }
  for (size_t t = 0; t < got_.size(); ++t) {
    const double share =
        all > 0 ? got_[t] / all
                : 1.0 * (decode_rows[t] + prompt_rows[t]) / std::max(rows, 1);
    got_[t] = share * (machine.fixed + all) / scenario_.weights[t];
  }
  double widest = 0;
  for (size_t a = 0; a < got_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      Pair& pair = pairs_[a * got_.size() + b];
      if (!waits[a] || !waits[b]) {
        pair = {};
        continue;
      }
      pair.both += std::min(got_[a], got_[b]);
      pair.ahead += got_[a] - got_[b];
      pair.least = std::min(pair.least, pair.ahead);
      pair.most = std::max(pair.most, pair.ahead);
      widest = std::max(widest, (pair.most - pair.least - pair.both / 10));
    }
  }
  return widest / allowed_;
}

}  // namespace attend
