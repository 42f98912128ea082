#ifndef ATTEND_CLIENT_CPP_LOAD_REPORT_H_
#define ATTEND_CLIENT_CPP_LOAD_REPORT_H_

#include <cstdint>
#include <map>
#include <string>

#include "client/cpp/load/load.h"
#include "client/cpp/load/statistics.h"

namespace attend {

// What `attend bench` reports of one run. Times are those of the calls that
// succeeded.
struct BenchReport {
  int64_t succeeded = 0;
  std::map<std::string, int64_t> errors = {};  // calls by the name of the code
  absl::Duration elapsed = {};
  int64_t tokens = 0;  // generated
  int64_t source_tokens = 0;
  int64_t inputs = 0;
  double requests_per_second = 0;
  double tokens_per_second = 0;
  double source_tokens_per_second = 0;
  double inputs_per_second = 0;
  bool stream = false;         // true: the next two were measured
  Quantiles first_token = {};  // of a call
  Quantiles inter_token = {};  // between two messages of a stream
  Quantiles end_to_end = {};   // of a call
  Quantiles queue = {};        // of a call, on the server; none: it says none
};

// The report of a run whose calls were streams, or were not.
BenchReport MakeReport(const LoadResult& result, bool stream);

// Several lines for people.
std::string ToTable(const BenchReport& report);
// One JSON object; durations in seconds.
std::string ToJson(const BenchReport& report);

// Two runs of the same streams: alone, and while long inputs come in.
struct InterferenceReport {
  BenchReport quiet;
  BenchReport busy;

  // The p99 inter-token time of `busy` divided by that of `quiet`. 0 if one of
  // them was not measured.
  double Ratio() const;
};

std::string ToTable(const InterferenceReport& report);
std::string ToJson(const InterferenceReport& report);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_LOAD_REPORT_H_
