#ifndef ATTEND_CLIENT_CPP_CLI_BENCH_REPORT_H_
#define ATTEND_CLIENT_CPP_CLI_BENCH_REPORT_H_

#include <cstdint>
#include <functional>

#include "attend/v1/attend.pb.h"
#include "client/cpp/cli/bench_requests.h"
#include "client/cpp/load/html_report.h"

namespace attend {

// What the page of --report says at its top; asks the server for its version.
ReportFacts BenchFacts(const BenchOptions& options, const v1::Model& model);

// Shows a progress bar of `total` calls, ten times a second at most, and
// removes it after the last call: what Load::on_end asks for. Null if standard
// error is no terminal.
std::function<void(int64_t ended)> BenchProgress(int64_t total);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_BENCH_REPORT_H_
