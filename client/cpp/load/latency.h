#ifndef ATTEND_CLIENT_CPP_LOAD_LATENCY_H_
#define ATTEND_CLIENT_CPP_LOAD_LATENCY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/cpp/load/chart.h"
#include "client/cpp/load/load.h"

namespace attend {

using Times = std::vector<absl::Duration>;

// What a call took of one kind; nothing: it was not measured, or the call
// failed.
using Latency = std::optional<absl::Duration> (*)(const CallRecord&);

std::optional<absl::Duration> EndToEnd(const CallRecord& call);
std::optional<absl::Duration> FirstToken(const CallRecord& call);
std::optional<absl::Duration> QueueTime(const CallRecord& call);

// The value at a fraction of 0 to 1 of times that are sorted, by nearest rank
// as in Quantiles. There must be one.
absl::Duration Percentile(const Times& sorted, double fraction);

// A point at the height of a time, in milliseconds. With a `name`, "name: time"
// is said of it.
ChartPoint TimePoint(double x, absl::Duration time, const std::string& name);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_LATENCY_H_
