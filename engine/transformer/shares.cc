#include "engine/transformer/shares.h"

#include "absl/synchronization/mutex.h"

namespace attend {

absl::Status RunShares(
    ExecContext& context,
    absl::FunctionRef<absl::Status(int member, ExecContext& alone)> work) {
  absl::Mutex mutex;
  absl::Status first_error;
  context.team().Run([&](int member) {
    const absl::Status status = work(member, context.alone(member));
    if (status.ok()) return;
    const absl::MutexLock lock(&mutex);
    first_error.Update(status);
  });
  return first_error;
}

}  // namespace attend
