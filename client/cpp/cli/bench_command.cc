#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "client/cpp/cli/bench_requests.h"
#include "client/cpp/cli/command_inputs.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"
#include "client/cpp/load/load.h"
#include "client/cpp/load/report.h"

namespace attend {
namespace {

// Requests that are nearly all encode: one new token each.
absl::StatusOr<Load> LongEncodes(const BenchOptions& options) {
  BenchOptions long_options = options;
  long_options.request.clear_params();
  long_options.request.mutable_params()->set_max_new_tokens(1);
  auto requests =
      BenchRequests(long_options, options.interference, /*mask=*/"");
  if (!requests.ok()) return requests.status();
  return Load{.requests = *std::move(requests),
              .rate = options.interference_rate,
              .seed = options.arrival_seed + 1,
              .timeout = options.connection.timeout};
}

absl::StatusOr<Load> Foreground(const BenchOptions& options,
                                const std::string& mask) {
  auto requests = BenchRequests(options, options.file, mask);
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

absl::StatusOr<v1::Model> GetModel(const ConnectionOptions& connection) {
  Client client(ToClientOptions(connection));
  return client.GetModel(connection.model);
}

// Options that are about generated tokens.
bool WantsTokens(const BenchOptions& options) {
  return options.stream || options.output_lengths.highest > 0 ||
         !options.interference.empty() ||
         options.request.params().ByteSizeLong() > 0;
}

}  // namespace

int Run(const BenchOptions& options) {
  if (options.task != BenchTask::kGenerate && WantsTokens(options)) {
    std::fputs("attend: options of generation need --task generate\n", stderr);
    return kExitUsage;
  }
  const auto model = GetModel(options.connection);
  if (!model.ok()) return Fail(model.status());
  const auto load = Foreground(options, model->mask_token());
  if (!load.ok()) return Fail(load.status());

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
