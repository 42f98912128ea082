#ifndef ATTEND_SERVER_APP_SYSTEM_LIMITS_H_
#define ATTEND_SERVER_APP_SYSTEM_LIMITS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace attend {

// gRPC ends the process if the system has no file descriptor, no thread or no
// address space left. Therefore these functions try, before gRPC starts,
// whether the system has enough. RESOURCE_EXHAUSTED says which limit is too
// low.

// Makes threads share heaps from now on, if address space is limited (ulimit
// -v). Otherwise glibc gives each thread a heap of its own, which takes 64 MiB
// of address space. To be called before there are other threads.
void ShareHeapsUnderLimit();

// Checks that the limit of open files (ulimit -n) is at least 64.
absl::Status CheckDescriptors();

// Checks that the system can give as many threads as the ports need, each with
// its stack and room for its allocations. The threads exist for a moment only.
absl::Status CheckThreads();

// Calls `run` with a stack of at least 8 MiB, which all threads get from now
// on, whatever the limit of the stack is (ulimit -s): libraries that parse and
// compile need more than the few KiB that some users' limits leave. Where the
// caller's own stack is smaller, `run` gets a thread of its own. To be called
// before there are other threads. Returns the result of `run`.
int RunWithStack(absl::FunctionRef<int()> run);

// Opens /dev/null for each of the descriptors 0, 1 and 2 that the process was
// started without. Otherwise a socket might get such a number, and the log
// would be written to the socket. Libraries may have taken the numbers before
// main(); therefore the program is then executed again with the same
// `arguments`. Call first in main(). Returns false on failure.
bool OpenStandardDescriptors(char** arguments);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SYSTEM_LIMITS_H_
