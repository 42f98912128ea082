#ifndef ATTEND_CLIENT_CPP_CLI_BENCH_REQUESTS_H_
#define ATTEND_CLIENT_CPP_CLI_BENCH_REQUESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "attend/v1/attend.pb.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/load/load.h"

namespace attend {

// New tokens of a request; both 0: what its parameters say.
struct OutputLengths {
  int lowest = 0;
  int highest = 0;
};

// The task whose options are about generated tokens.
inline constexpr char kGenerateTask[] = "generate";

struct BenchOptions {
  ConnectionOptions connection;
  std::string task = kGenerateTask;  // one of BenchTasks()
  int batch = 1;                     // inputs of a call
  v1::GenerateRequest request;       // all but its model and inputs
  std::string file;
  bool ids = false;  // the lines of `file` are token ids
  OutputLengths output_lengths;
  int concurrency = 8;
  int requests = 100;
  int warmup = 8;
  double rate = 0;
  uint64_t arrival_seed = 1;
  bool stream = false;
  std::string interference;
  double interference_rate = 5;
  bool json = false;
};

// What `attend bench` can call.
std::vector<std::string> BenchTasks();

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
