#include "engine/decoding/draft_pace.h"

#include <algorithm>

namespace attend {
namespace {

// How much the last draft counts in the share that is accepted.
constexpr float kWeightOfLast = 0.25f;

}  // namespace

int DraftPace::Next(const DraftLimits& limits) {
  const int length = std::min(length_, limits.most);
  if (length <= 0) return 0;
  if (accepted_ < limits.least_accepted && ++skipped_ < calls_) {
    return 0;
  }
  return length;
}

void DraftPace::Learn(int accepted, int drafted) {
  if (accepted == drafted) {
    length_ = std::min(2 * length_, kMostTokens);
  } else {
    length_ = std::max(1, (length_ + accepted) / 2);
  }
  calls_ = 2 * accepted < drafted ? std::min(2 * calls_, trials_.most)
                                  : trials_.first;
  const float share =
      static_cast<float>(accepted) / static_cast<float>(drafted);
  accepted_ += kWeightOfLast * (share - accepted_);
  skipped_ = 0;
}

}  // namespace attend
