#ifndef ATTEND_SERVER_SCHEDULER_STEP_COST_H_
#define ATTEND_SERVER_SCHEDULER_STEP_COST_H_

#include "absl/time/time.h"

namespace attend {

// A running estimate of the duration of steps. A quiet step (decode rows only)
// costs a fixed time and a time for each row; each encode or prompt row adds a
// time of its own. The estimate is learned from the steps, because it depends
// on model, machine and load. Copyable; has no clock; not thread-safe.
class StepCost {
 public:
  // Learns that a step with these rows took `duration`. A step that took much
  // longer than estimated (a page fault, a busy neighbour) changes the estimate
  // only a little.
  void Observe(int decode_rows, int prompt_rows, absl::Duration duration);

  // The seconds of a step with these decode rows and nothing else; 0: unknown.
  double QuietSeconds(int decode_rows) const;
  // The same with encode or prompt rows.
  double Seconds(int decode_rows, int prompt_rows) const {
    return QuietSeconds(decode_rows) + prompt_row_ * prompt_rows;
  }
  // The seconds of work in a step that took `duration`: at most some times the
  // estimate. The rest is nobody's work: the machine stood still, or its clock
  // was set.
  double WorkSeconds(int decode_rows, int prompt_rows,
                     absl::Duration duration) const;
  // The seconds that these rows add to a step with other rows; 0: unknown, or
  // nothing.
  double RowSeconds(int decode_rows, int prompt_rows) const {
    return decode_row_ * decode_rows + prompt_row_ * prompt_rows;
  }
  // The seconds that one encode or prompt row adds; 0: unknown.
  double PromptRowSeconds() const { return prompt_row_; }

  // True after a number of steps of which none was quiet. If encodes and
  // prompts never end, a step without them is needed now and then, to measure
  // one.
  bool WantsQuietStep() const { return steps_since_quiet_ >= kQuietEvery; }

  // The number of encode or prompt rows that doubles the time of a quiet step;
  // 0: unknown.
  int RowsThatDouble(int decode_rows) const;
  // The number with which a step takes so many seconds; 0: unknown, or none.
  int RowsUntil(int decode_rows, double seconds) const;
  // The number of encode or prompt rows that add so many seconds to a step; 0:
  // unknown, or none.
  int PromptRowsOf(double seconds) const;

 private:
  static constexpr int kQuietEvery = 16;

  void ObserveQuiet(int decode_rows, double seconds);

  double fixed_ = 0;        // seconds
  double decode_row_ = 0;   // seconds a row
  double prompt_row_ = 0;   // seconds a row
  double prompt_rows_ = 0;  // encode and prompt rows so far
  int steps_since_quiet_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_STEP_COST_H_
