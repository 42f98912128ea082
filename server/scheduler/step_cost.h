#ifndef ATTEND_SERVER_SCHEDULER_STEP_COST_H_
#define ATTEND_SERVER_SCHEDULER_STEP_COST_H_

#include "absl/time/time.h"

namespace attend {

// Running estimate of what a step costs: a quiet step (decode rows only) is a
// fixed part plus a part for each row, and each encode or prompt row adds its
// own. Learned from the steps themselves, since it depends on model, machine
// and load. A value: copyable, no clock, not thread-safe.
class StepCost {
 public:
  // A step with these rows took `duration`. Steps much longer than predicted
  // (a page fault, a busy neighbour) move the estimate only a little.
  void Observe(int decode_rows, int prompt_rows, absl::Duration duration);

  // Seconds of a step with these decode rows and nothing else; 0: unknown.
  double QuietSeconds(int decode_rows) const;
  // Seconds that one encode or prompt row adds; 0: unknown.
  double PromptRowSeconds() const { return prompt_row_; }

  // True after some steps of which none was quiet: where encodes and prompts
  // never end, they have to be left out now and then to see what is quiet.
  bool WantsQuietStep() const { return steps_since_quiet_ >= kQuietEvery; }

  // Encode or prompt rows that double the time of a quiet step; 0: unknown.
  int RowsThatDouble(int decode_rows) const;

 private:
  static constexpr int kQuietEvery = 16;

  void ObserveQuiet(int decode_rows, double seconds);

  double fixed_ = 0;       // seconds
  double decode_row_ = 0;  // seconds a row
  double prompt_row_ = 0;  // seconds a row
  int steps_since_quiet_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_STEP_COST_H_
