#include "server/observability/exemplars.h"

#include <algorithm>

namespace attend {

void Exemplars::Set(double value, absl::string_view trace_id, absl::Time now) {
  const auto bucket =
      std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  MutexLock lock(mutex_);
  last_[bucket] = {
      .trace_id = std::string(trace_id), .value = value, .time = now};
  any_ = true;
}

std::vector<Exemplar> Exemplars::Last() const {
  MutexLock lock(mutex_);
  return any_ ? last_ : std::vector<Exemplar>();
}

}  // namespace attend
