#ifndef ATTEND_CLIENT_CPP_LOAD_PERCENTILE_CHART_H_
#define ATTEND_CLIENT_CPP_LOAD_PERCENTILE_CHART_H_

#include <string>
#include <utility>
#include <vector>

#include "client/cpp/load/chart.h"
#include "client/cpp/load/latency.h"

namespace attend {

using NamedTimes = std::vector<std::pair<std::string, Times>>;

// Times in milliseconds by percentile, a curve for each set of them that is not
// empty. Percentiles are drawn by the logarithm of what is above them: from 90
// to 99 is as far as from 0 to 90. At the right end is the maximum.
Chart PercentileChart(std::string title, const NamedTimes& all);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_PERCENTILE_CHART_H_
