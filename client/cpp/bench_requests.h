#ifndef ATTEND_CLIENT_CPP_BENCH_REQUESTS_H_
#define ATTEND_CLIENT_CPP_BENCH_REQUESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cpp/options.h"

namespace attend {

// One request for each line of `file`, a text or, with options.ids, its token
// ids; for a few sentences where `file` is empty. INVALID_ARGUMENT names the
// line that is neither.
absl::StatusOr<std::vector<v1::GenerateRequest>> BenchRequests(
    const BenchOptions& options, const std::string& file);

// `count` requests, `requests` over and over, each to end after exactly as many
// new tokens as are drawn for it, uniformly from `lengths`. The same seed gives
// the same numbers everywhere.
std::vector<v1::GenerateRequest> WithOutputLengths(
    const std::vector<v1::GenerateRequest>& requests, OutputLengths lengths,
    uint64_t seed, int count);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_BENCH_REQUESTS_H_
