#ifndef ATTEND_SERVER_APP_SYSTEM_LIMITS_H_
#define ATTEND_SERVER_APP_SYSTEM_LIMITS_H_

#include "absl/status/status.h"

namespace attend {

// gRPC ends the process where the system has no file descriptor, no thread or
// no address space left for it. So these are asked for before it starts:
// RESOURCE_EXHAUSTED says which limit is too low.

// Where address space is limited (ulimit -v), threads share heaps from now on:
// glibc gives each thread one of its own, for 64 MiB of it. Before there are
// other threads.
void ShareHeapsUnderLimit();

// The limit of open files (ulimit -n) is at least 64.
absl::Status CheckDescriptors();

// As many threads as the ports take can be had, for a moment, each with its
// stack and room for its allocations.
absl::Status CheckThreads();

// Opens /dev/null for those of the descriptors 0, 1 and 2 that the process was
// started without: a socket in their place would be sent the log. Libraries may
// have taken the numbers before main(), so the program begins anew then, with
// the same `arguments`. First of all in main(); false if it cannot be done.
bool OpenStandardDescriptors(char** arguments);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SYSTEM_LIMITS_H_
