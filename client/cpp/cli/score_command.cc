#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/command_inputs.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

absl::StatusOr<std::string> Score(Client& client, const ScoreOptions& options,
                                  const std::string& line) {
  const size_t tab = line.find('\t');
  if (tab == std::string::npos) {
    return absl::InvalidArgumentError("no tab between source and target");
  }
  v1::ScoreRequest request = options.request;
  request.set_model(options.connection.model);
  v1::ScorePair* const pair = request.add_pairs();
  pair->mutable_source()->set_text(line.substr(0, tab));
  pair->mutable_target()->set_text(line.substr(tab + 1));
  const auto result = OnlyResult(client.Score(request));
  if (!result.ok()) return result.status();
  if (options.input.json) return ToJsonLine(*result);
  return absl::StrCat(absl::StrFormat("%.6f\n", result->log_prob()),
                      options.tokens ? ToLines(result->tokens()) : "");
}

}  // namespace

int Run(const ScoreOptions& options) {
  InputOptions input = options.input;
  if (input.arguments.size() == 2) {
    input.arguments = {
        absl::StrCat(input.arguments[0], "\t", input.arguments[1])};
  } else if (!input.arguments.empty()) {
    std::fprintf(stderr, "attend: score takes SOURCE and TARGET, got %zu\n",
                 input.arguments.size());
    return kExitUsage;
  }
  Client client(ToClientOptions(options.connection));
  return ForEachInput(input, [&](const Line& line) {
    return Score(client, options, line.text);
  });
}

}  // namespace attend
