#ifndef ATTEND_CLIENT_CPP_TOP_METRICS_TEXT_H_
#define ATTEND_CLIENT_CPP_TOP_METRICS_TEXT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// One number of a metric.
struct Sample {
  std::map<std::string, std::string> labels;
  double value = 0;
};

// The samples by the name of their metric.
using Samples = std::map<std::string, std::vector<Sample>, std::less<>>;

// Reads Prometheus' text format (version 0.0.4). Lines that are not samples are
// left out.
Samples ParseMetrics(absl::string_view text);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_TOP_METRICS_TEXT_H_
