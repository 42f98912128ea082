#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/command_inputs.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

v1::GenerateRequest RequestFor(const GenerateOptions& options,
                               const std::string& text) {
  v1::GenerateRequest request = options.request;
  request.set_model(options.connection.model);
  request.add_inputs()->set_text(text);
  return request;
}

// Nothing comes before the first token, so it has none.
std::string PromptLines(const v1::Prompt& prompt) {
  if (prompt.log_probs().empty()) return "";
  auto tokens = prompt.log_probs();
  const std::string first = tokens[0].token().piece();
  tokens.DeleteSubrange(0, 1);
  return absl::StrCat(absl::StrFormat("  %10s  %s\n", "-", first),
                      ToLines(tokens));
}

std::string Format(const GenerateOptions& options, const Line& line,
                   const v1::GenerateResult& result) {
  if (options.input.json) return ToJsonLine(result);
  const bool numbered = options.request.params().num_return_sequences() > 1;
  std::string text = PromptLines(result.prompt());
  for (const v1::Choice& choice : result.choices()) {
    if (numbered) {
      absl::StrAppendFormat(&text, "%d\t%.6f\t", line.number, choice.score());
    }
    absl::StrAppend(&text, result.prompt().text(), choice.text(), "\n",
                    ToLines(choice.log_probs()));
  }
  return text;
}

absl::StatusOr<std::string> Generate(Client& client,
                                     const GenerateOptions& options,
                                     const Line& line) {
  const auto result =
      OnlyResult(client.Generate(RequestFor(options, line.text)));
  if (!result.ok()) return result.status();
  return Format(options, line, *result);
}

// Prints text while it comes and returns what is left to print, the line's end.
absl::StatusOr<std::string> Stream(Client& client,
                                   const GenerateOptions& options,
                                   const Line& line) {
  absl::Status input_status;
  const absl::Status status = client.GenerateStream(
      RequestFor(options, line.text), [&](const v1::GenerateChunk& chunk) {
        for (const std::string& text : {chunk.prompt().text(), chunk.text()}) {
          std::fwrite(text.data(), 1, text.size(), stdout);
        }
        if (chunk.has_status()) input_status = ToAbslStatus(chunk.status());
        return std::fflush(stdout) == 0;
      });
  if (!status.ok()) return status;
  if (!input_status.ok()) return input_status;
  return "\n";
}

}  // namespace

int Run(const GenerateOptions& options) {
  Client client(ToClientOptions(options.connection));
  InputOptions input = options.input;
  // Texts of two streams cannot share one terminal.
  if (options.stream) input.in_flight = 1;
  return ForEachInput(input, [&](const Line& line) {
    return options.stream ? Stream(client, options, line)
                          : Generate(client, options, line);
  });
}

}  // namespace attend
