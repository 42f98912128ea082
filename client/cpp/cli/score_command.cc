#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct ScoreOptions : BatchOptions<v1::ScoreRequest> {
  bool tokens = false;
};

absl::Status AddPair(const Line& line, v1::ScoreRequest& request) {
  const size_t tab = line.text.find('\t');
  if (tab == std::string::npos) {
    return absl::InvalidArgumentError("no tab between source and target");
  }
  v1::ScorePair* const pair = request.add_pairs();
  pair->mutable_source()->set_text(line.text.substr(0, tab));
  pair->mutable_target()->set_text(line.text.substr(tab + 1));
  return absl::OkStatus();
}

int RunScore(ScoreOptions options) {
  if (!JoinPair(options.input.arguments)) {
    std::fprintf(stderr, "attend: score takes SOURCE and TARGET, got %zu\n",
                 options.input.arguments.size());
    return kExitUsage;
  }
  return RunBatches(options, &Client::Score, AddPair,
                    [&](const Line&, const v1::ScoreResult& result) {
                      return absl::StrCat(
                          absl::StrFormat("%.6f\n", result.log_prob()),
                          options.tokens ? ToLines(result.tokens()) : "");
                    });
}

}  // namespace

Command AddScore(CLI::App& attend) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App& command = *attend.add_subcommand(
      "score", "Print the log-probability of a target, given its source");
  command.footer(
      "A line of a file or of standard input has: source, tab, target.");
  AddInput(command, options->input, "SOURCE TARGET");
  AddConnection(command, options->connection);
  command.add_flag("--tokens", options->tokens,
                   "Print the log-probability of each token below the sum");
  return {&command, [options] { return RunScore(*options); }};
}

}  // namespace attend
