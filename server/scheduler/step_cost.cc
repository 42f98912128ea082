#include "server/scheduler/step_cost.h"

#include <algorithm>
#include <cmath>

namespace attend {
namespace {

// The multiple of the estimate beyond which time is nobody's work.
constexpr double kMostTimes = 8;
// The weight of a new observation: the estimate follows about the last ten
// steps.
constexpr double kGain = 0.25;
// Row counts are scaled by this so that both estimates of a quiet step learn.
constexpr double kRowScale = 16;
// Decode rows that take hardly longer than one: the first guess.
constexpr double kFreeRows = 32;
// Smaller pieces say little about the cost of a row, and get a lower weight.
constexpr double kFullWeightRows = 32;
// The first encode and prompt rows take what comes once, such as pages that are
// touched first; and, until a quiet step has been seen, all that a step takes.
// As long as there were no more rows than these, a lower sample is the better
// one.
constexpr double kFirstRows = 256;
// Seconds by which an estimate near zero can grow in one observation.
constexpr double kFloor = 1e-5;

// `seconds`, but at most about twice the expected ones.
double WithoutSpike(double seconds, double expected) {
  return std::min(seconds, 2 * expected + kFloor);
}

}  // namespace

void StepCost::Observe(int decode_rows, int prompt_rows,
                       absl::Duration duration) {
  const double seconds = absl::ToDoubleSeconds(duration);
  if (seconds <= 0 || decode_rows + prompt_rows <= 0) return;
  if (prompt_rows == 0) {
    steps_since_quiet_ = 0;
    return ObserveQuiet(decode_rows, seconds);
  }
  ++steps_since_quiet_;
  const bool early = prompt_rows_ < kFirstRows;
  prompt_rows_ += prompt_rows;
  const double sample =
      std::max(0.0, seconds - QuietSeconds(decode_rows)) / prompt_rows;
  if (prompt_row_ == 0) {
    prompt_row_ = sample;
    return;
  }
  const double gain = early && sample < prompt_row_ ? 1 : kGain;
  const double weight = gain * std::min(1.0, prompt_rows / kFullWeightRows);
  prompt_row_ +=
      weight *
      (WithoutSpike(sample, prompt_row_ + kFloor / prompt_rows) - prompt_row_);
}

// One step of normalised least mean squares: the error is shared between both
// estimates in proportion to how much each contributed.
void StepCost::ObserveQuiet(int decode_rows, double seconds) {
  const double expected = QuietSeconds(decode_rows);
  if (expected == 0) {
    // More rows than this take time of their own.
    fixed_ = seconds * std::min(1.0, kFreeRows / std::max(decode_rows, 1));
    decode_row_ = (seconds - fixed_) / std::max(decode_rows, 1);
    return;
  }
  const double x = decode_rows / kRowScale;
  const double error = WithoutSpike(seconds, expected) - expected;
  const double step = 2 * kGain * error / (1 + x * x);
  fixed_ = std::max(0.0, fixed_ + step);
  decode_row_ = std::max(0.0, decode_row_ + step * x / kRowScale);
  if (decode_row_ > 0) return;
  // The fixed time takes what the rows cannot account for.
  fixed_ += kGain * (WithoutSpike(seconds, fixed_) - fixed_);
}

double StepCost::WorkSeconds(int decode_rows, int prompt_rows,
                             absl::Duration duration) const {
  const double seconds = absl::ToDoubleSeconds(duration);
  const double estimate = Seconds(decode_rows, prompt_rows);
  return estimate > 0 ? std::min(seconds, kMostTimes * estimate) : seconds;
}

double StepCost::QuietSeconds(int decode_rows) const {
  return fixed_ + decode_row_ * decode_rows;
}

int StepCost::PromptRowsOf(double seconds) const {
  if (prompt_row_ <= 0 || seconds <= 0) return 0;
  constexpr double kMany = 1 << 20;
  return static_cast<int>(std::lround(std::min(kMany, seconds / prompt_row_)));
}

int StepCost::RowsThatDouble(int decode_rows) const {
  return PromptRowsOf(QuietSeconds(decode_rows));
}

int StepCost::RowsUntil(int decode_rows, double seconds) const {
  const double quiet = QuietSeconds(decode_rows);
  return quiet > 0 ? PromptRowsOf(seconds - quiet) : 0;
}

}  // namespace attend
