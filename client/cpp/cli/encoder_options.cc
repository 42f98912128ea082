#include "client/cpp/cli/encoder_options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "client/cpp/cli/common_options.h"

namespace attend {
namespace {

template <class Request>
void AddCommon(CLI::App& command, ConnectionOptions& connection,
               InputOptions& input, Request& request) {
  AddBatch(command, input);
  AddConnection(command, connection);
  AddScheduling(command, request);
}

constexpr char kFooter[] =
    "An input that fails gives an empty line and a message on stderr.";

}  // namespace

void AddEmbed(CLI::App& app, EmbedOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "embed", "Print a vector of each input, or of each of its tokens");
  command.footer(kFooter);
  AddInput(command, options.input, "Texts; each is one input");
  v1::EmbedRequest& request = options.request;
  CLI::Option* const per_token = command.add_flag_function(
      "--per-token", [&](int64_t) { request.set_per_token(true); },
      "A line of piece and vector for each token, then an empty line");
  command
      .add_option_function<int32_t>(
          "--dimensions", [&](int32_t n) { request.set_dimensions(n); },
          "Only so many numbers, the first ones, of models trained for it")
      ->excludes(per_token);
  command
      .add_flag_function(
          "--normalize,!--no-normalize",
          [&](int64_t on) { request.set_normalize(on > 0); },
          "Scale vectors to length 1, or do not; default: as the model says")
      ->excludes(per_token);
  CLI::Option* const name = command.add_option_function<std::string>(
      "--prompt-name",
      [&](const std::string& prompt) { request.set_prompt_name(prompt); },
      "Put this prompt of the model before each text (query, passage, ...)");
  command
      .add_option_function<std::string>(
          "--prompt",
          [&](const std::string& text) { request.set_prompt_text(text); },
          "Put this text before each text")
      ->excludes(name);
  AddCommon(command, options.connection, options.input, request);
}

void AddClassify(CLI::App& app, ClassifyOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "classify", "Print the labels of each input, or of each of its tokens");
  command.footer(
      std::string("Labels of a text are one line: label, score, next label, "
                  "... (tabs between).\nOf models that label tokens a line is "
                  "piece, label, score; an empty line ends an input.\n") +
      kFooter);
  AddInput(command, options.input, "Texts; with --pairs, TEXT PAIR");
  v1::ClassifyRequest& request = options.request;
  command.add_flag("--pairs", options.pairs,
                   "Inputs are pairs of texts; lines: text, tab, text");
  command
      .add_option_function<int32_t>(
          "-k,--top-k", [&](int32_t n) { request.set_top_k(n); },
          "Labels printed, best first (default: all of a text's, a token's "
          "best one)")
      ->check(CLI::Range(1, 1000000));
  command.add_flag_function(
      "--raw", [&](int64_t) { request.set_raw_scores(true); },
      "Scores without softmax or sigmoid");
  AddCommon(command, options.connection, options.input, request);
}

void AddFillMask(CLI::App& app, FillMaskOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "fill-mask", "Print each text with its masks filled in");
  command.footer(
      std::string("The mask is spelled as the model does: attend models NAME "
                  "shows mask_token.\nWith --top-k a line is: input number, "
                  "mask number, probability, piece, text\n(tabs between; the "
                  "text if there is one mask).\n") +
      kFooter);
  AddInput(command, options.input, "Texts with masks");
  v1::FillMaskRequest& request = options.request;
  command
      .add_option_function<int32_t>(
          "-k,--top-k", [&](int32_t n) { request.set_top_k(n); },
          "Print so many candidates for each mask")
      ->check(CLI::Range(1, 100));
  AddCommon(command, options.connection, options.input, request);
}

void AddRerank(CLI::App& app, RerankOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "rerank", "Order documents by how well they answer a query");
  command.footer(
      "Documents are arguments, or lines of a file or standard input, in any "
      "number.\nA line is: score, number of the document, document (tabs "
      "between), best first.\nOne that fails is left out, with a message on "
      "stderr.");
  command.add_option("query", options.query, "Query")->required();
  command.add_option("documents", options.input.arguments, "Documents");
  command
      .add_option("-f,--file", options.input.file,
                  "Read documents from this file (default: standard input)")
      ->excludes("documents");
  v1::RerankRequest& request = options.request;
  command
      .add_option_function<int32_t>(
          "-n,--top-n", [&](int32_t n) { request.set_top_n(n); },
          "Print only so many")
      ->check(CLI::Range(1, 100000000));
  command.add_flag_function(
      "--raw", [&](int64_t) { request.set_raw_scores(true); },
      "Scores without sigmoid");
  AddInFlight(command, options.input);
  AddCommon(command, options.connection, options.input, request);
}

}  // namespace attend
