#include <algorithm>
#include <cstdio>
#include <utility>

#include "client/cpp/bench_requests.h"
#include "client/cpp/client.h"
#include "client/cpp/commands.h"
#include "client/cpp/lines.h"
#include "client/cpp/load.h"
#include "client/cpp/report.h"

namespace attend {
namespace {

// Requests that are nearly all encode: one new token each.
absl::StatusOr<Load> LongEncodes(const BenchOptions& options) {
  BenchOptions long_options = options;
  long_options.request.clear_params();
  long_options.request.mutable_params()->set_max_new_tokens(1);
  auto requests = BenchRequests(long_options, options.interference);
  if (!requests.ok()) return requests.status();
  return Load{.requests = *std::move(requests),
              .rate = options.interference_rate,
              .seed = options.arrival_seed + 1,
              .timeout = options.connection.timeout};
}

absl::StatusOr<Load> Foreground(const BenchOptions& options) {
  auto requests = BenchRequests(options, options.file);
  if (!requests.ok()) return requests.status();
  if (options.output_lengths.highest > 0) {
    requests = WithOutputLengths(*requests, options.output_lengths,
                                 options.arrival_seed, options.requests);
  }
  return Load{.requests = *std::move(requests),
              .count = options.requests,
              .concurrency = options.concurrency,
              .rate = options.rate,
              .seed = options.arrival_seed,
              .stream = options.stream || !options.interference.empty(),
              .timeout = options.connection.timeout};
}

template <typename Report>
void Print(const Report& report, bool json) {
  std::puts((json ? ToJson(report) : ToTable(report)).c_str());
}

int ExitCode(const BenchReport& report) {
  return report.errors.empty() ? kExitOk : kExitCallFailed;
}

int Fail(const absl::Status& status) {
  PrintError(status);
  return kExitCallFailed;
}

// True if the server can be reached and has the model.
absl::Status CheckServer(const ConnectionOptions& connection) {
  Client client(ToClientOptions(connection));
  return client.GetModel(connection.model).status();
}

}  // namespace

int Run(const BenchOptions& options) {
  const auto load = Foreground(options);
  if (!load.ok()) return Fail(load.status());
  const absl::Status server = CheckServer(options.connection);
  if (!server.ok()) return Fail(server);

  LoadGenerator generator(options.connection.address);
  if (options.warmup > 0) {
    Load warmup = *load;
    warmup.count = options.warmup;
    warmup.rate = 0;
    generator.Run(warmup);
  }
  const BenchReport quiet = MakeReport(generator.Run(*load), load->stream);
  if (options.interference.empty()) {
    Print(quiet, options.json);
    return ExitCode(quiet);
  }
  const auto background = LongEncodes(options);
  if (!background.ok()) return Fail(background.status());
  const BenchReport busy =
      MakeReport(generator.Run(*load, &*background), load->stream);
  Print(InterferenceReport{quiet, busy}, options.json);
  return std::max(ExitCode(quiet), ExitCode(busy));
}

}  // namespace attend
