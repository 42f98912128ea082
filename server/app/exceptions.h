#ifndef ATTEND_SERVER_APP_EXCEPTIONS_H_
#define ATTEND_SERVER_APP_EXCEPTIONS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace attend {

// Calls `work` and returns its status. If an exception ends `work`, returns an
// error: RESOURCE_EXHAUSTED if the system has no memory or no thread left,
// UNAVAILABLE if the file system failed, otherwise INTERNAL. Code of Attend
// does not throw, but the standard library and other libraries do.
absl::Status CatchExceptions(absl::FunctionRef<absl::Status()> work);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_EXCEPTIONS_H_
