#ifndef ATTEND_CLIENT_CPP_CLI_OPTIONS_H_
#define ATTEND_CLIENT_CPP_CLI_OPTIONS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "attend/v1/attend.pb.h"

namespace attend {

// Exit codes of the `attend` command line.
inline constexpr int kExitOk = 0;
inline constexpr int kExitCallFailed = 1;
inline constexpr int kExitUsage = 2;

// The options of one command line: a struct for each subcommand. Their meaning
// and defaults stand in the help texts, in options.cc.

struct ConnectionOptions {
  std::string address = "localhost:50051";
  std::string model;
  absl::Duration timeout = absl::Seconds(60);
};

// What a command works on: arguments, else a file's lines, else those of
// standard input.
struct InputOptions {
  std::vector<std::string> arguments;
  std::string file;
  int in_flight = 16;
  int batch = 0;  // inputs of a call; 0: 32 of a file, else 1
  bool json = false;
};

struct GenerateOptions {
  ConnectionOptions connection;
  InputOptions input;
  v1::GenerateRequest request;  // all but its model and inputs
  bool stream = false;
};

struct ChatOptions {
  ConnectionOptions connection;
  v1::GenerateRequest request;  // all but its model and inputs
  std::string system;           // a message before the others; empty: none
  std::string variables;        // Chat.variables_json
};

struct ScoreOptions {
  ConnectionOptions connection;
  InputOptions input;
  v1::ScoreRequest request;  // all but its model and pairs
  bool tokens = false;
};

struct EmbedOptions {
  ConnectionOptions connection;
  InputOptions input;
  v1::EmbedRequest request;  // all but its model and inputs
};

struct ClassifyOptions {
  ConnectionOptions connection;
  InputOptions input;
  v1::ClassifyRequest request;  // all but its model and inputs
  bool pairs = false;
};

struct FillMaskOptions {
  ConnectionOptions connection;
  InputOptions input;
  v1::FillMaskRequest request;  // all but its model and inputs
};

struct RerankOptions {
  ConnectionOptions connection;
  std::string query;
  InputOptions input;
  v1::RerankRequest request;  // all but its model and texts
};

struct TokenizeOptions {
  ConnectionOptions connection;
  InputOptions input;
  bool decode = false;
  bool pieces = false;
  v1::Side side = v1::SIDE_SOURCE;  // of the texts or ids given
  bool no_special_tokens = false;
  bool keep_special_tokens = false;
};

struct ModelsOptions {
  ConnectionOptions connection;
  std::string name;
  bool json = false;
};

// New tokens of a request; both 0: what its parameters say.
struct OutputLengths {
  int lowest = 0;
  int highest = 0;
};

// What `attend bench` calls.
enum class BenchTask { kGenerate, kEmbed, kClassify, kFillMask, kRerank };

struct BenchOptions {
  ConnectionOptions connection;
  BenchTask task = BenchTask::kGenerate;
  int batch = 1;                // inputs of a call
  v1::GenerateRequest request;  // all but its model and inputs
  std::string file;
  bool ids = false;  // the lines of `file` are token ids
  OutputLengths output_lengths;
  int concurrency = 8;
  int requests = 100;
  int warmup = 8;
  double rate = 0;
  uint64_t arrival_seed = 1;
  bool stream = false;
  std::string interference;
  double interference_rate = 5;
  bool json = false;
};

using Command =
    std::variant<GenerateOptions, ChatOptions, ScoreOptions, EmbedOptions,
                 ClassifyOptions, FillMaskOptions, RerankOptions,
                 TokenizeOptions, ModelsOptions, BenchOptions>;

// Reads a command line. Where there is nothing to run (--help, or a mistake),
// prints what is to be said and returns the exit code instead.
std::variant<int, Command> ParseCommandLine(int argc, char** argv);

}  // namespace attend

#endif  // ATTEND_CLIENT_CPP_CLI_OPTIONS_H_
