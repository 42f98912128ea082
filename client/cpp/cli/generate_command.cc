#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cpp/cli/batch_command.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/document_options.h"
#include "client/cpp/cli/for_each_input.h"
#include "client/cpp/cli/generation_options.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct GenerateOptions : BatchOptions<v1::GenerateRequest> {
  bool stream = false;
  DocumentOptions document;
};

// The first token of a prompt has no log-probability: nothing comes before it.
std::string PromptLines(const v1::Prompt& prompt) {
  if (prompt.log_probs().empty()) return "";
  auto tokens = prompt.log_probs();
  const std::string first = tokens[0].token().piece();
  tokens.DeleteSubrange(0, 1);
  return absl::StrCat(absl::StrFormat("  %10s  %s\n", "-", first),
                      ToLines(tokens));
}

std::string FormatGenerate(bool numbered, const Line& line,
                           const v1::GenerateResult& result) {
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

// Prints text while it comes. Returns what is left to print: the end of the
// line.
absl::StatusOr<std::string> Stream(Client& client,
                                   const GenerateOptions& options,
                                   const Line& line) {
  v1::GenerateRequest request = options.request;
  request.set_model(options.connection.model);
  request.add_inputs()->set_text(line.text);
  absl::Status input_status;
  const absl::Status status =
      client.GenerateStream(request, [&](const v1::GenerateChunk& chunk) {
        if (chunk.has_status()) input_status = ToAbslStatus(chunk.status());
        return Print(chunk.prompt().text()) && Print(chunk.text());
      });
  if (!status.ok()) return status;
  if (!input_status.ok()) return input_status;
  return "\n";
}

int RunGenerate(GenerateOptions options) {
  if (!options.document.file.empty()) {
    return TranslateDocument(options.connection, options.input.json,
                             options.request, options.document);
  }
  if (options.stream) {
    Client client(ToClientOptions(options.connection));
    // One stream at a time: two texts cannot grow on one terminal.
    options.input.in_flight = 1;
    return ForEachInput(options.input, [&](const Line& line) {
      return Stream(client, options, line);
    });
  }
  const bool numbered = options.request.params().num_return_sequences() > 1;
  return RunBatches(options, &Client::Generate, AddText<v1::GenerateRequest>,
                    [=](const Line& line, const v1::GenerateResult& result) {
                      return FormatGenerate(numbered, line, result);
                    });
}

// Which results are printed, and what of them.
void AddOutput(CLI::App& app, GenerateOptions& options) {
  v1::GenerationParams* const params = options.request.mutable_params();
  CLI::Option* const stream = app.add_flag("-s,--stream", options.stream,
                                           "Print text as it is generated");
  app.add_option_function<int32_t>(
         "-n,--n", [=](int32_t n) { params->set_num_return_sequences(n); },
         "Number of results for each input: the best beams, or samples")
      ->excludes(stream);
  app.add_flag_function(
      "--log-probs", [=](int64_t) { params->set_log_probs(true); },
      "Print the log-probability of each token below the text");
  app.add_flag_function(
      "--echo", [=](int64_t) { params->set_echo(true); },
      "Also print the input, before the text that continues it");
  app.add_flag_function(
      "--prompt-log-probs",
      [=](int64_t) { params->set_prompt_log_probs(true); },
      "Print the log-probability of each token of the input");
  stream->excludes("--json")
      ->excludes("--log-probs")
      ->excludes("--prompt-log-probs");
}

}  // namespace

Command AddGenerate(CLI::App& attend) {
  const auto options = std::make_shared<GenerateOptions>();
  CLI::App& command = *attend.add_subcommand(
      "generate",
      "Generate a text for each input: the translation by a translation model, "
      "or the continuation by a decoder-only model");
  command.alias("translate");
  command.footer(
      std::string(
          "Parameters default to those of the model.\nWith --n above 1 a line "
          "has, separated by tabs: number of the input, score, text.\n") +
      kFailedInputs);
  AddInput(command, options->input, "Texts; each is one input");
  AddConnection(command, options->connection);
  v1::GenerationParams* const params = options->request.mutable_params();
  AddOutput(command, *options);
  AddLength(command, params);
  AddBeams(command, params);
  AddSampling(command, params);
  AddPenalties(command, params);
  AddContent(command, params);
  AddConstraint(command, params);
  AddLanguages(command, options->request);
  AddDocument(command, options->document);
  AddScheduling(command, options->request);
  return {&command, [options] { return RunGenerate(*options); }};
}

}  // namespace attend
