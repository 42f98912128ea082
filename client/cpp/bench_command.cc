#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cpp/client.h"
#include "client/cpp/commands.h"
#include "client/cpp/lines.h"
#include "client/cpp/load.h"
#include "client/cpp/report.h"
#include "client/cpp/utf8.h"

namespace attend {
namespace {

// Short and long, as people write.
std::vector<std::string> BuiltInSentences() {
  return {
      "Good morning.",
      "Where is the nearest train station?",
      "The meeting has been moved to Thursday afternoon.",
      "A brown dog is running along the beach with a stick in its mouth.",
      "Please send me the documents before the end of the week.",
      "Two children are sitting on a wall and eating ice cream.",
      "Although it had rained all night, the streets were already dry when we "
      "left the house in the morning.",
      "She asked whether the library would still be open on Sunday, because "
      "she had to return three books and wanted to borrow a new one for the "
      "journey.",
  };
}

absl::StatusOr<std::vector<v1::GenerateRequest>> Requests(
    const BenchOptions& options, const std::string& file) {
  std::vector<std::string> texts = BuiltInSentences();
  if (!file.empty()) {
    auto lines = ReadLines(file);
    if (!lines.ok()) return lines.status();
    texts = *std::move(lines);
  }
  if (texts.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": no lines"));
  }
  std::vector<v1::GenerateRequest> requests;
  for (std::string& text : texts) {
    v1::GenerateRequest request = options.request;
    request.set_model(options.connection.model);
    request.add_inputs()->set_text(std::move(text));
    if (absl::Status status = CheckText(request); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, ":", requests.size() + 1, ": ", status.message()));
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

// Requests that are nearly all encode: one new token each.
absl::StatusOr<Load> LongEncodes(const BenchOptions& options) {
  BenchOptions long_options = options;
  long_options.request.clear_params();
  long_options.request.mutable_params()->set_max_new_tokens(1);
  auto requests = Requests(long_options, options.interference);
  if (!requests.ok()) return requests.status();
  return Load{.requests = *std::move(requests),
              .rate = options.interference_rate,
              .seed = options.arrival_seed + 1,
              .timeout = options.connection.timeout};
}

absl::StatusOr<Load> Foreground(const BenchOptions& options) {
  auto requests = Requests(options, options.file);
  if (!requests.ok()) return requests.status();
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
