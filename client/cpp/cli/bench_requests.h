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

// The range of the number of new tokens. Both 0: as the request's parameters
// say.
struct OutputLengths {
  int lowest = 0;
  int highest = 0;
};

// The only task that has options about generated tokens.
inline constexpr char kGenerateTask[] = "generate";

// The options of `attend bench`.
struct BenchOptions {
  ConnectionOptions connection;
  std::string task = kGenerateTask;  // one of BenchTasks()
  int batch = 1;                     // inputs of one call
  v1::GenerateRequest request;       // without model and inputs
  std::string file;                  // of inputs; empty: built-in sentences
  bool ids = false;                  // the lines of `file` are token ids
  OutputLengths output_lengths;
  int concurrency = 8;        // closed loop: calls in flight
  int requests = 100;         // calls that are measured
  int warmup = 8;             // calls before, which are not measured
  double rate = 0;            // calls a second of an open loop; 0: closed loop
  uint64_t arrival_seed = 1;  // of arrivals and output lengths
  bool stream = false;
  std::string interference;      // file of long inputs; empty: none
  double interference_rate = 5;  // long inputs a second
  bool json = false;
  std::string report;   // file of the page; empty: none
  std::string command;  // what was asked for, without secrets
  std::string version;  // of the program
};

// The values of --task.
std::vector<std::string> BenchTasks();

// Requests of options.task for the lines of `file`, or for the built-in
// sentences if `file` is empty.
// * Each request takes the next options.batch lines. The last request is
//   filled with lines from the beginning.
// * A line is a text, or token ids with options.ids.
// * A text for fill-mask that has no mask gets `mask` at its end.
// * The query of rerank is the first line.
// INVALID_ARGUMENT names the file and the line that cannot be sent.
absl::StatusOr<std::vector<LoadRequest>> BenchRequests(
    const BenchOptions& options, const std::string& file,
    const std::string& mask);

// `count` requests: `requests` again and again. Each ends after exactly as many
// new tokens as are drawn for it, uniformly from `lengths`. The same seed gives
// the same numbers with every standard library.
std::vector<LoadRequest> WithOutputLengths(
    const std::vector<LoadRequest>& requests, OutputLengths lengths,
    uint64_t seed, int count);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_BENCH_REQUESTS_H_
