#include "client/cpp/options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <utility>

namespace attend {
namespace {

// "30s", "500ms", "inf", or a number of seconds.
std::optional<absl::Duration> ParseTimeout(const std::string& text) {
  absl::Duration timeout;
  if (!absl::ParseDuration(text, &timeout) &&
      !absl::ParseDuration(text + "s", &timeout)) {
    return std::nullopt;
  }
  if (timeout <= absl::ZeroDuration()) return std::nullopt;
  return timeout;
}

void AddConnection(CLI::App& app, ConnectionOptions& connection) {
  app.add_option("-a,--address", connection.address,
                 "Server, host:port or unix:path")
      ->envname("ATTEND_ADDRESS")
      ->capture_default_str();
  app.add_option("-m,--model", connection.model,
                 "Model; default: the server's default model");
  app.add_option_function<std::string>(
         "--timeout",
         [&connection](const std::string& text) {
           const std::optional<absl::Duration> timeout = ParseTimeout(text);
           if (!timeout.has_value()) {
             throw CLI::ValidationError(
                 "--timeout", text + " is not a time above 0, like 30s or inf");
           }
           connection.timeout = *timeout;
         },
         "Deadline of each call, retries included: 500ms, 30s, 5m, inf "
         "[60s]")
      ->type_name("TIME");
}

void AddInput(CLI::App& app, InputOptions& input, const char* arguments) {
  app.add_option("arguments", input.arguments, arguments);
  app.add_option("-f,--file", input.file,
                 "Read lines from this file (default: standard input)")
      ->excludes("arguments");
  app.add_option("--in-flight", input.in_flight,
                 "Lines worked on at once; output keeps their order")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--json", input.json, "Print one JSON object for each input");
}

// An option that may be given many times, with one value each time.
template <typename T, typename Add>
void AddRepeated(CLI::App& app, const char* name, const char* help, Add add) {
  app.add_option_function<std::vector<T>>(
         name,
         [add](const std::vector<T>& values) {
           for (const T& value : values) add(value);
         },
         help)
      ->allow_extra_args(false);
}

void AddLength(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<int32_t>(
      "--max-new-tokens", [=](int32_t n) { params->set_max_new_tokens(n); },
      "New tokens at most, end of sequence included");
  app.add_option_function<int32_t>(
      "--min-new-tokens", [=](int32_t n) { params->set_min_new_tokens(n); },
      "No end of sequence before so many new tokens");
}

void AddBeams(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<int32_t>(
      "-b,--beams", [=](int32_t n) { params->set_num_beams(n); },
      "Beams; 1: greedy, or sampling");
  app.add_option_function<float>(
      "--length-penalty", [=](float x) { params->set_length_penalty(x); },
      "Beam scores are divided by length ^ this");
  app.add_option_function<std::string>(
         "--early-stopping",
         [=](const std::string& mode) {
           params->set_early_stopping(mode == "true" ? v1::EARLY_STOPPING_TRUE
                                      : mode == "false"
                                          ? v1::EARLY_STOPPING_FALSE
                                          : v1::EARLY_STOPPING_NEVER);
         },
         "When beam search ends: as soon as there are --beams results (true), "
         "when the best running beam cannot beat them (false), or when none "
         "can at any length (never)")
      ->check(CLI::IsMember({"true", "false", "never"}));
}

void AddSampling(CLI::App& app, v1::GenerationParams* params) {
  app.add_flag_function(
      "--sample", [=](int64_t) { params->set_do_sample(true); },
      "Sample instead of taking the best token");
  app.add_option_function<float>(
      "--temperature", [=](float x) { params->set_temperature(x); },
      "Of sampling; below 1: closer to the best token");
  app.add_option_function<int32_t>(
      "--top-k", [=](int32_t n) { params->set_top_k(n); },
      "Sample from the n likeliest tokens; 0: from all");
  app.add_option_function<float>(
      "--top-p", [=](float x) { params->set_top_p(x); },
      "Sample from the likeliest tokens that make up this probability");
  app.add_option_function<float>(
      "--min-p", [=](float x) { params->set_min_p(x); },
      "Sample from tokens at least this times as likely as the likeliest");
  app.add_option_function<uint64_t>(
      "--seed", [=](uint64_t n) { params->set_seed(n); },
      "Of sampling; default: drawn by the server");
}

void AddPenalties(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<float>(
      "--repetition-penalty",
      [=](float x) { params->set_repetition_penalty(x); },
      "Above 1: tokens that came before become less likely");
  app.add_option_function<float>(
      "--presence-penalty", [=](float x) { params->set_presence_penalty(x); },
      "Taken from the logit of each token that came before");
  app.add_option_function<float>(
      "--frequency-penalty", [=](float x) { params->set_frequency_penalty(x); },
      "Taken from a token's logit each time that it came before");
  app.add_option_function<int32_t>(
      "--no-repeat-ngram",
      [=](int32_t n) { params->set_no_repeat_ngram_size(n); },
      "No sequence of so many tokens comes twice");
}

void AddContent(CLI::App& app, v1::GenerationParams* params) {
  app.add_option_function<std::string>(
      "--prefix",
      [=](const std::string& text) { params->set_prefix_text(text); },
      "Text that the result starts with; it is not printed");
  AddRepeated<std::string>(
      app, "--stop", "End where this comes up in the result; may be repeated",
      [=](const std::string& text) { params->add_stop_strings(text); });
  AddRepeated<int32_t>(app, "--stop-id",
                       "End at this token id; may be repeated",
                       [=](int32_t id) { params->add_stop_ids(id); });
  AddRepeated<int32_t>(
      app, "--bad-id", "Never generate this token id; may be repeated",
      [=](int32_t id) { params->add_bad_words()->add_ids(id); });
}

void AddScheduling(CLI::App& app, v1::GenerateRequest& request) {
  app.add_option_function<int32_t>(
         "--priority", [&request](int32_t n) { request.set_priority(n); },
         "-10 to 10; higher goes first")
      ->check(CLI::Range(-10, 10));
  app.add_flag_function(
      "--truncate", [&request](int64_t) { request.set_truncate(true); },
      "Cut over-long inputs instead of refusing them");
}

void AddGenerate(CLI::App& app, GenerateOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "generate",
      "Generate a text for each input: for a translation model, "
      "translate it");
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
  AddLength(command, params);
  AddBeams(command, params);
  AddSampling(command, params);
  AddPenalties(command, params);
  AddContent(command, params);
  AddScheduling(command, options.request);
  stream->excludes("--json")->excludes("--log-probs");
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

void AddBench(CLI::App& app, BenchOptions& options) {
  CLI::App& command = *app.add_subcommand(
      "bench", "Measure a server: latency, throughput, errors");
  command.footer(
      "Closed loop by default (--concurrency); with --rate an open loop, "
      "whose\n"
      "times count from when a call was due. Nothing is retried.");
  AddConnection(command, options.connection);
  command.add_option("-f,--file", options.file,
                     "Inputs, one a line, taken in turn (default: a few "
                     "built-in sentences)");
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
                  "Of the arrivals; the same seed, the same times")
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
  ScoreOptions score;
  TokenizeOptions tokenize;
  ModelsOptions models;
  BenchOptions bench;
  AddGenerate(app, generate);
  AddScore(app, score);
  AddTokenize(app, tokenize);
  AddModels(app, models);
  AddBench(app, bench);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (app.got_subcommand("score")) return Command(std::move(score));
  if (app.got_subcommand("tokenize")) return Command(std::move(tokenize));
  if (app.got_subcommand("models")) return Command(std::move(models));
  if (app.got_subcommand("bench")) return Command(std::move(bench));
  return Command(std::move(generate));
}

}  // namespace attend
