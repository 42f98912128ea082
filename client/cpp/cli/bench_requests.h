#ifndef ATTEND_CLIENT_CPP_CLI_BENCH_REQUESTS_H_
#define ATTEND_CLIENT_CPP_CLI_BENCH_REQUESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/cli/options.h"
#include "client/cpp/load/load.h"

namespace attend {

// Requests for options.batch lines of `file` each, in turn: texts or, with
// options.ids, token ids; a few sentences where `file` is empty. If the lines
// do not go into batches evenly, they are taken again from the first. What is
// to be filled in is `mask` at the end of a text that has none; what documents
// answer is the first line. INVALID_ARGUMENT names the line that cannot be
// sent.
absl::StatusOr<std::vector<LoadRequest>> BenchRequests(
    const BenchOptions& options, const std::string& file,
    const std::string& mask);

// `count` requests, `requests` over and over, each to end after exactly as many
// new tokens as are drawn for it, uniformly from `lengths`. The same seed gives
// the same numbers everywhere.
std::vector<LoadRequest> WithOutputLengths(
    const std::vector<LoadRequest>& requests, OutputLengths lengths,
    uint64_t seed, int count);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_BENCH_REQUESTS_H_
