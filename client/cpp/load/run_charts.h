#ifndef ATTEND_CLIENT_CPP_LOAD_RUN_CHARTS_H_
#define ATTEND_CLIENT_CPP_LOAD_RUN_CHARTS_H_

#include <vector>

#include "client/cpp/load/chart.h"
#include "client/cpp/load/load.h"

namespace attend {

// What a run took, as charts: latencies by percentile; and over the time of the
// run, in equal parts of it, throughput, latencies and queueing. What was not
// measured has no chart; a run without calls has none at all. Latencies are
// those of the calls that succeeded.
std::vector<Chart> RunCharts(const LoadResult& result);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_RUN_CHARTS_H_
