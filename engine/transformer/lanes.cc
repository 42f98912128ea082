#include "engine/transformer/lanes.h"

#include "absl/synchronization/mutex.h"

namespace attend {

absl::Status RunLanes(
    Compute& compute,
    absl::FunctionRef<absl::Status(int member, Compute& alone)> work) {
  absl::Mutex mutex;
  absl::Status first_error;
  compute.team().Run([&](int member) {
    const absl::Status status = work(member, compute.alone(member));
    if (status.ok()) return;
    const absl::MutexLock lock(&mutex);
    first_error.Update(status);
  });
  return first_error;
}

}  // namespace attend
