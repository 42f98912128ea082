#ifndef ATTEND_SERVER_PROFILE_TRACE_EVENTS_H_
#define ATTEND_SERVER_PROFILE_TRACE_EVENTS_H_

#include <cstdint>
#include <string>

#include "server/profile/profile_buffer.h"

namespace attend {

// Metadata of a trace.
struct TraceFacts {
  int64_t begin = 0;  // by the buffer's clock: it is the trace's 0
  int64_t end = 0;
  std::string version = "";  // version of the build
};

// The events of a buffer that does not record, as a JSON object of Google's
// "Trace Event Format", which Perfetto and chrome://tracing open: complete
// events ("X") on threads, which have the names that the system knows. Times
// are in microseconds since `facts.begin`; earlier events begin there.
std::string TraceEvents(const ProfileBuffer& buffer, const TraceFacts& facts);

}  // namespace attend

#endif  // ATTEND_SERVER_PROFILE_TRACE_EVENTS_H_
