#include "client/cpp/cli/options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/encoder_options.h"
#include "client/cpp/cli/generation_options.h"

namespace attend {
namespace {

void AddGenerate(CLI::App& app, GenerateOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "generate",
      "Generate a text for each input: for a translation model, "
      "translate it; for a model that continues text, what follows");
  command.alias("translate");
  command.footer(
      "Parameters that are not given take the model's defaults.\n"
      "An input that fails gives an empty line and a message on stderr.\n"
      "With --n above 1 a line is: input number, score, text (tabs between).");
  AddInput(command, options.input, "Texts; each is one input");
  AddConnection(command, options.connection);
  v1::GenerationParams* const params = options.request.mutable_params();
  CLI::Option* const stream =
      command.add_flag("-s,--stream", options.stream, "Print text as it comes");
  command
      .add_option_function<int32_t>(
          "-n,--n", [=](int32_t n) { params->set_num_return_sequences(n); },
          "Results for each input: the n best beams, or n samples")
      ->excludes(stream);
  command.add_flag_function(
      "--log-probs", [=](int64_t) { params->set_log_probs(true); },
      "Print each token's log-probability below the text");
  command.add_flag_function(
      "--echo", [=](int64_t) { params->set_echo(true); },
      "Print the input before what follows it, of a model that continues text");
  command.add_flag_function(
      "--prompt-log-probs",
      [=](int64_t) { params->set_prompt_log_probs(true); },
      "Print the log-probability of each token of the input, too");
  AddLength(command, params);
  AddBeams(command, params);
  AddSampling(command, params);
  AddPenalties(command, params);
  AddContent(command, params);
  AddLanguages(command, options.request);
  AddScheduling(command, options.request);
  stream->excludes("--json")
      ->excludes("--log-probs")
      ->excludes("--prompt-log-probs");
}

void AddChat(CLI::App& app, ChatOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "chat", "Talk to a model: each line is a turn, its answer streams");
  command.footer(
      "Ctrl-C stops an answer, and at the prompt the program; end of input "
      "ends it too.\n"
      "Standard input may be a file or a pipe. Parameters that are not given "
      "take the\n"
      "model's defaults.");
  AddConnection(command, options.connection);
  command.add_option("--system", options.system,
                     "What the system says before the first turn");
  command.add_option("--variables", options.variables,
                     "More of what the model's chat template may name, as a "
                     "JSON object: {\"enable_thinking\": false}");
  v1::GenerationParams* const params = options.request.mutable_params();
  AddLength(command, params);
  AddBeams(command, params);
  AddSampling(command, params);
  AddPenalties(command, params);
  AddContent(command, params);
  AddScheduling(command, options.request);
}

void AddScore(CLI::App& app, ScoreOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "score", "Print the log-probability of given targets");
  command.footer("Lines of a file or standard input: source, tab, target.");
  AddInput(command, options.input, "SOURCE TARGET");
  AddConnection(command, options.connection);
  command.add_flag("--tokens", options.tokens,
                   "Print each token's log-probability below the sum");
}

void AddTokenize(CLI::App& app, TokenizeOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "tokenize", "Print token ids of texts, or texts of token ids");
  AddInput(command, options.input,
           "Texts; with --decode, ids with spaces or commas between");
  AddConnection(command, options.connection);
  CLI::Option* const decode =
      command.add_flag("-d,--decode", options.decode, "Ids to text");
  command.add_flag("--pieces", options.pieces, "Print pieces instead of ids")
      ->excludes(decode);
  command
      .add_option_function<std::string>(
          "--side",
          [&options](const std::string& side) {
            options.side = side == "source" ? v1::SIDE_SOURCE : v1::SIDE_TARGET;
          },
          "Vocabulary of the texts or ids; results of generate are of the "
          "target's [source]")
      ->check(CLI::IsMember({"source", "target"}));
  command
      .add_flag("--no-special-tokens", options.no_special_tokens,
                "Add no special tokens")
      ->excludes(decode);
  command
      .add_flag("--keep-special-tokens", options.keep_special_tokens,
                "With --decode: print special tokens too")
      ->needs(decode);
}

void AddModels(CLI::App& app, ModelsOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "models", "List the server's models, or show one with its defaults");
  command.add_option("name", options.name, "Show this model");
  AddConnection(command, options.connection);
  command.add_flag("--json", options.json, "Print JSON");
}

void AddOutputLengths(CLI::App& app, BenchOptions& options) {
  app.add_option_function<std::pair<int, int>>(
         "--output-lengths",
         [&options](const std::pair<int, int>& range) {
           if (range.first > range.second) {
             throw CLI::ValidationError("--output-lengths",
                                        "the first is above the second");
           }
           options.output_lengths = {range.first, range.second};
         },
         "Each call generates exactly so many new tokens, drawn uniformly "
         "between these two")
      ->check(CLI::Range(1, 1000000));
}

void AddTask(CLI::App& app, BenchOptions& options) {
  const std::map<std::string, BenchTask> tasks = {
      {"generate", BenchTask::kGenerate},
      {"embed", BenchTask::kEmbed},
      {"classify", BenchTask::kClassify},
      {"fill-mask", BenchTask::kFillMask},
      {"rerank", BenchTask::kRerank}};
  app.add_option_function<std::string>(
         "--task",
         [&options, tasks](const std::string& task) {
           options.task = tasks.at(task);
         },
         "What to call [generate]")
      ->check(CLI::IsMember(tasks));
  app.add_option("--batch", options.batch,
                 "Inputs of a call; of rerank, documents")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
}

void AddBench(CLI::App& app, BenchOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "bench", "Measure a server: latency, throughput, errors");
  command.footer(
      "Closed loop by default (--concurrency); with --rate an open loop, "
      "whose\n"
      "times count from when a call was due. Nothing is retried.");
  AddConnection(command, options.connection);
  AddTask(command, options);
  command.add_option("-f,--file", options.file,
                     "Inputs, one a line, taken in turn (default: a few "
                     "built-in sentences)");
  command.add_flag("--ids", options.ids,
                   "The lines are token ids with spaces or commas between, "
                   "special tokens included");
  AddOutputLengths(command, options);
  CLI::Option* const concurrency =
      command
          .add_option("-c,--concurrency", options.concurrency,
                      "Closed loop: calls in flight")
          ->check(CLI::Range(1, 100000))
          ->capture_default_str();
  command.add_option("-r,--requests", options.requests, "Calls to measure")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  command.add_option("--warmup", options.warmup, "Calls before, not measured")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str();
  command
      .add_option("--rate", options.rate,
                  "Open loop: calls a second, Poisson arrivals")
      ->check(CLI::Range(1e-6, 1e6))
      ->excludes(concurrency);
  command
      .add_option("--arrival-seed", options.arrival_seed,
                  "Of the arrivals and --output-lengths; the same seed, the "
                  "same calls")
      ->capture_default_str();
  command.add_flag("-s,--stream", options.stream,
                   "Stream, and measure first token and inter-token times");
  command.add_option("--interference", options.interference,
                     "Run twice, the second time while inputs of this file "
                     "(long ones, one a line) are encoded; report the ratio "
                     "of p99 inter-token times. Implies --stream");
  command
      .add_option("--interference-rate", options.interference_rate,
                  "Long inputs a second, Poisson arrivals")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  command.add_flag("--json", options.json, "Print JSON");
  v1::GenerationParams* const params = options.request.mutable_params();
  AddLength(command, params);
  AddBeams(command, params);
  AddSampling(command, params);
  AddScheduling(command, options.request);
}

}  // namespace

std::variant<int, Command> ParseCommandLine(int argc, char** argv) {
  CLI::App app("Client of an Attend server", "attend");
  app.require_subcommand(1);
  app.footer(
      "attend COMMAND --help shows a command's options.\n"
      "Exit code: 0 all went well, 1 a call failed, 2 wrong usage.");
  GenerateOptions generate;
  ChatOptions chat;
  ScoreOptions score;
  EmbedOptions embed;
  ClassifyOptions classify;
  FillMaskOptions fill_mask;
  RerankOptions rerank;
  TokenizeOptions tokenize;
  ModelsOptions models;
  BenchOptions bench;
  AddGenerate(app, generate);
  AddChat(app, chat);
  AddScore(app, score);
  AddEmbed(app, embed);
  AddClassify(app, classify);
  AddFillMask(app, fill_mask);
  AddRerank(app, rerank);
  AddTokenize(app, tokenize);
  AddModels(app, models);
  AddBench(app, bench);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (app.got_subcommand("chat")) return Command(std::move(chat));
  if (app.got_subcommand("score")) return Command(std::move(score));
  if (app.got_subcommand("embed")) return Command(std::move(embed));
  if (app.got_subcommand("classify")) return Command(std::move(classify));
  if (app.got_subcommand("fill-mask")) return Command(std::move(fill_mask));
  if (app.got_subcommand("rerank")) return Command(std::move(rerank));
  if (app.got_subcommand("tokenize")) return Command(std::move(tokenize));
  if (app.got_subcommand("models")) return Command(std::move(models));
  if (app.got_subcommand("bench")) return Command(std::move(bench));
  return Command(std::move(generate));
}

}  // namespace attend
