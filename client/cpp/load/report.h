#ifndef ATTEND_CLIENT_CPP_LOAD_REPORT_H_
#define ATTEND_CLIENT_CPP_LOAD_REPORT_H_

#include <cstdint>
#include <map>
#include <string>

#include "client/cpp/load/load.h"
#include "client/cpp/load/statistics.h"

namespace attend {

// What `attend bench` says of one run. Times are of the calls that succeeded.
struct BenchReport {
  int64_t succeeded = 0;
  std::map<std::string, int64_t> errors = {};  // by the code's name
  absl::Duration elapsed = {};
  int64_t tokens = 0;  // generated
  int64_t source_tokens = 0;
  int64_t inputs = 0;
  double requests_per_second = 0;
  double tokens_per_second = 0;
  double source_tokens_per_second = 0;
  double inputs_per_second = 0;
  bool stream = false;         // the next two are measured
  Quantiles first_token = {};  // of a call
  Quantiles inter_token = {};  // between two messages of a stream
  Quantiles end_to_end = {};   // of a call
};

BenchReport MakeReport(const LoadResult& result, bool stream);

// For people; several lines.
std::string ToTable(const BenchReport& report);
// One JSON object; durations in seconds.
std::string ToJson(const BenchReport& report);

// Two runs of the same streams: alone, and while long inputs come in.
struct InterferenceReport {
  BenchReport quiet;
  BenchReport busy;

  // p99 inter-token time, busy / quiet. 0 if either was not measured.
  double Ratio() const;
};

std::string ToTable(const InterferenceReport& report);
std::string ToJson(const InterferenceReport& report);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_REPORT_H_
