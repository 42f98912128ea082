#ifndef ATTEND_SERVER_APP_EXCEPTIONS_H_
#define ATTEND_SERVER_APP_EXCEPTIONS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace attend {

// The status of `work`, or of the exception that ended it. Below here nobody
// throws, but for the standard library and its users where the system gives no
// memory or no thread: RESOURCE_EXHAUSTED.
absl::Status CatchExceptions(absl::FunctionRef<absl::Status()> work);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_EXCEPTIONS_H_
