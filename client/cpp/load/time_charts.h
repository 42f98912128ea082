#ifndef ATTEND_CLIENT_CPP_LOAD_TIME_CHARTS_H_
#define ATTEND_CLIENT_CPP_LOAD_TIME_CHARTS_H_

#include <vector>

#include "client/cpp/load/chart.h"
#include "client/cpp/load/load.h"

namespace attend {

// What a run took over its time, in at most 60 equal parts of it: throughput,
// then latencies and queueing. A call counts where it ended. What was not
// measured has no chart. `result.elapsed` must be above 0.
std::vector<Chart> TimeCharts(const LoadResult& result);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_TIME_CHARTS_H_
