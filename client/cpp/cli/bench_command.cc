#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/cli/bench_report.h"
#include "client/cpp/cli/bench_requests.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/command_text.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/generation_options.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/cli/report_file.h"
#include "client/cpp/lib/client.h"
#include "client/cpp/load/load.h"
#include "client/cpp/load/report.h"

namespace attend {
namespace {

// The load of the long inputs. Each asks for one new token, so nearly all of
// its work is to encode.
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

// The figures of one run, or of two.
std::string Figures(const std::vector<MeasuredRun>& runs, bool json) {
  const BenchReport& quiet = runs.front().report;
  if (runs.size() == 1) return json ? ToJson(quiet) : ToTable(quiet);
  const InterferenceReport both{quiet, runs.back().report};
  return json ? ToJson(both) : ToTable(both);
}

int ExitCode(const std::vector<MeasuredRun>& runs) {
  for (const MeasuredRun& run : runs) {
    if (!run.report.errors.empty()) return kExitCallFailed;
  }
  return kExitOk;
}

int Fail(const absl::Status& status) {
  PrintError(status);
  return kExitCallFailed;
}

absl::StatusOr<v1::Model> GetModel(const ConnectionOptions& connection) {
  Client client(ToClientOptions(connection));
  return client.GetModel(connection.model);
}

// True if an option is about generated tokens.
bool WantsTokens(const BenchOptions& options) {
  return options.stream || options.output_lengths.highest > 0 ||
         !options.interference.empty() ||
         options.request.params().ByteSizeLong() > 0;
}

// The run of `load` alone and, if that is asked for, the run with long inputs.
absl::StatusOr<std::vector<MeasuredRun>> Measure(const BenchOptions& options,
                                                 Load load) {
  std::optional<Load> background;
  if (!options.interference.empty()) {
    auto encodes = LongEncodes(options);
    if (!encodes.ok()) return encodes.status();
    background = *std::move(encodes);
  }
  LoadGenerator generator(ToClientOptions(options.connection));
  if (options.warmup > 0) {
    Load warmup = load;
    warmup.count = options.warmup;
    warmup.rate = 0;
    generator.Run(warmup);
  }
  std::vector<MeasuredRun> runs;
  const auto run = [&](const char* title, const Load* beside) {
    load.on_end = BenchProgress(load.count);
    LoadResult result = generator.Run(load, beside);
    BenchReport report = MakeReport(result, load.stream);
    runs.push_back({title, std::move(result), std::move(report)});
  };
  run(background ? "Quiet" : "", nullptr);
  if (background) run("While long inputs come in", &*background);
  return runs;
}

// Whether the report would be written over inputs.
bool OverwritesInputs(const BenchOptions& options) {
  return IsSameFile(options.report, options.file) ||
         IsSameFile(options.report, options.interference);
}

int RunBench(const BenchOptions& options) {
  if (options.task != kGenerateTask && WantsTokens(options)) {
    std::fputs(
        "attend: --stream, --output-lengths, --interference and parameters of "
        "generation need --task generate\n",
        stderr);
    return kExitUsage;
  }
  if (OverwritesInputs(options)) {
    std::fprintf(stderr,
                 "attend: --report: %s has the inputs, which would be lost\n",
                 options.report.c_str());
    return kExitUsage;
  }
  const auto model = GetModel(options.connection);
  if (!model.ok()) return Fail(model.status());
  auto load = Foreground(options, model->mask_token());
  if (!load.ok()) return Fail(load.status());
  std::optional<ReportFile> page;
  ReportFacts facts;
  if (!options.report.empty()) {
    auto opened = ReportFile::Open(options.report);
    if (!opened.ok()) return Fail(opened.status());
    page.emplace(*std::move(opened));
    facts = BenchFacts(options, *model);
  }
  const auto runs = Measure(options, *std::move(load));
  if (!runs.ok()) return Fail(runs.status());
  const bool printed = Print(absl::StrCat(Figures(*runs, options.json), "\n"));
  if (page.has_value()) {
    const absl::Status written = page->Write(ToHtml(facts, *runs));
    if (!written.ok()) return Fail(written);
  }
  return printed ? ExitCode(*runs) : kExitCallFailed;
}

void AddOutputLengths(CLI::App& app, BenchOptions& options) {
  app.add_option_function<std::pair<int, int>>(
         "--output-lengths",
         [&options](const std::pair<int, int>& range) {
           if (range.first > range.second) {
             throw CLI::ValidationError(
                 "--output-lengths",
                 absl::StrCat("the first number, ", range.first,
                              ", is above the second, ", range.second));
           }
           options.output_lengths = {range.first, range.second};
         },
         "Range of the number of new tokens of a call, drawn uniformly; each "
         "call generates exactly that number")
      ->check(CLI::Range(1, 1000000));
}

// What is called, and with which inputs.
void AddTask(CLI::App& app, BenchOptions& options) {
  app.add_option("--task", options.task, "Method to call (default: generate)")
      ->check(CLI::IsMember(BenchTasks()));
  app.add_option("--batch", options.batch,
                 "Number of inputs per call (rerank: of documents)")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("-f,--file", options.file,
                 "File of inputs, one per line, used in turn (default: a few "
                 "built-in sentences)");
  app.add_flag("--ids", options.ids,
               "Lines are token ids, special ones included, separated by "
               "spaces or commas");
}

// How many calls there are, and when they come.
void AddArrivals(CLI::App& app, BenchOptions& options) {
  CLI::Option* const concurrency =
      app.add_option("-c,--concurrency", options.concurrency,
                     "Closed loop: number of calls in flight")
          ->check(CLI::Range(1, 100000))
          ->capture_default_str();
  app.add_option("-r,--requests", options.requests,
                 "Number of calls to measure")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  app.add_option("--warmup", options.warmup,
                 "Number of unmeasured calls before these")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  app.add_option("--rate", options.rate,
                 "Open loop: calls per second, as a Poisson process")
      ->check(CLI::Range(1e-6, 1e6))
      ->excludes(concurrency);
  app.add_option("--arrival-seed", options.arrival_seed,
                 "Seed of --rate and --output-lengths: the same seed gives the "
                 "same calls")
      ->capture_default_str();
}

// What is measured, and how it is printed.
void AddMeasurements(CLI::App& app, BenchOptions& options) {
  app.add_flag(
      "-s,--stream", options.stream,
      "Stream, and measure the time to first token and inter-token times");
  app.add_option("--interference", options.interference,
                 "Run twice, the second time while the lines of this file "
                 "(long inputs) are encoded. Report the ratio of the p99 "
                 "inter-token times. Implies --stream");
  app.add_option("--interference-rate", options.interference_rate,
                 "Long inputs per second, as a Poisson process")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  app.add_flag("--json", options.json, "Print JSON");
  app.add_option("--report", options.report,
                 "Also write an HTML page with figures and charts to this file")
      ->type_name("FILE");
}

}  // namespace

Command AddBench(CLI::App& attend) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App& command = *attend.add_subcommand(
      "bench", "Measure a server: latency, throughput, errors");
  command.footer(
      "By default a closed loop: --concurrency calls are always in "
      "flight.\nWith --rate an open loop: calls are due at random times, and "
      "their durations are\nmeasured from those times. Calls are not retried.");
  AddConnection(command, options->connection);
  AddTask(command, *options);
  AddOutputLengths(command, *options);
  AddArrivals(command, *options);
  AddMeasurements(command, *options);
  v1::GenerationParams* const params = options->request.mutable_params();
  AddLength(command, params);
  AddBeams(command, params);
  AddSampling(command, params);
  AddScheduling(command, options->request);
  return {&command, [options, &attend, &command] {
            options->command = CommandLineText(command);
            options->version = attend.version();
            return RunBench(*options);
          }};
}

}  // namespace attend
