#include "server/app/options.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "engine/tensor/check.h"
#include "engine/tensor/dtype.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Where a row's value goes; the type says how it is read.
using Target =
    std::variant<int*, size_t*, bool*, std::string*, std::vector<std::string>*,
                 absl::Duration*, LogLevel*, Isa*, std::optional<DType>*>;

struct Row {
  const char* name;
  Target target;
  const char* help;
};

std::vector<Row> Rows(ModelOptions& m, ServerOptions& o) {
  return {
      {"model", &m.models,
       "Directory of a model (config.json, model.safetensors, tokenizer), or "
       "NAME=DIRECTORY: requests call it by that name, else by the directory's "
       "own. Repeated, or with commas in the variable: several models, which "
       "take turns on the same threads; each has memory and limits of its "
       "own. Default: models/en-de."},
      {"model-name", &m.model_name,
       "Name of the model, if there is one --model without a name."},
      {"models-dir", &m.models_dir,
       "Serve each directory in this one that has a config.json, by its name; "
       "beside those of --model."},
      {"default-model", &m.default_model,
       "Name of the model for requests that name none. Default: the first "
       "--model, else the first of --models-dir by name."},
      {"host", &o.rpc.host, "Address that the gRPC port listens on."},
      {"port", &o.rpc.port, "gRPC port. 0: any free one, see the log."},
      {"http-host", &o.http.host, "Address that the HTTP port listens on."},
      {"http-port", &o.http.port,
       "Port of /metrics, /livez and /readyz. 0: any free one."},
      {"threads", &o.compute.threads,
       "Threads that compute. 0: the CPU quota of the cgroup; more than that "
       "makes every step slower."},
      {"cpu-isa", &o.compute.max_isa,
       "Instructions used at most: baseline, avx2, avx512, avx512_vnni, "
       "avx512_bf16, amx. Lower is slower; for comparisons."},
      {"dtype", &o.engine.dtype,
       "Numbers that the model's matmuls compute with: f32, bf16, int8, or "
       "auto: bf16 where the CPU multiplies it natively, else f32. int8 is the "
       "fastest and "
       "costs a little quality."},
      {"kv-cache-bytes", &o.engine.kv_cache_bytes,
       "Memory for keys and values of each model (also 512MiB, 2GiB). Higher: "
       "more sequences at once; all of it is taken at the start."},
      {"kv-cache-dtype", &o.engine.kv_cache_dtype,
       "Numbers that keys and values are kept in: f32, bf16, int8, or auto: as "
       "the model computes. Fewer bytes: faster steps and more sequences at "
       "once, a little less exact."},
      {"prefix-cache", &o.engine.prefix_cache,
       "Keep keys and values while there is room, so that only the rest of a "
       "prompt that begins alike is computed, and a source that was encoded is "
       "not encoded again. false: for comparisons."},
      {"max-source-tokens", &o.engine.max_source_tokens,
       "Longest source. Higher: more memory, and longer steps for all while a "
       "long one is encoded. 0: 512, and for models that continue it all that "
       "they have positions for."},
      {"max-batch-tokens", &o.scheduler.max_batch_tokens,
       "Rows computed in one step. Higher: more throughput, later first "
       "token, longer waits of other models, more memory."},
      {"max-running", &o.scheduler.max_running,
       "Inputs of each model that run at once. Higher: more throughput, slower "
       "single ones."},
      {"max-queued-requests", &o.scheduler.max_queued_requests,
       "Inputs that wait for each model. Higher: longer queues instead of "
       "refusals."},
      {"max-queued-tokens", &o.scheduler.max_queued_tokens,
       "Source tokens that wait for each model, over all inputs. Higher: as "
       "above."},
      {"aging", &o.scheduler.aging,
       "Waiting this long raises an input by one priority. Higher: low "
       "priorities wait longer."},
      {"max-beams", &o.engine.max_beams,
       "Beams or samples of one input. Higher: one request may take more of "
       "the memory."},
      {"max-batch-inputs", &o.rpc.max_batch_inputs,
       "Inputs of one call. Higher: one call may fill the queue."},
      {"max-message-bytes", &o.rpc.max_message_bytes,
       "Bytes of one request. Higher: more memory before anything is checked."},
      {"max-concurrent-streams", &o.rpc.max_concurrent_streams,
       "Calls at once on one connection; more wait in the client. Higher: one "
       "client may hold more."},
      {"tokenizer-threads", &o.rpc.tokenizer_threads,
       "Threads that tokenise. Higher: they take CPU time from computing."},
      {"max-tokenizer-queue", &o.rpc.max_tokenizer_queue,
       "Calls that wait to be tokenised. Higher: later refusals when flooded."},
      {"slow-reader-timeout", &o.rpc.slow_reader_timeout,
       "A call whose client has not read for so long is cancelled. Higher: "
       "dead clients hold memory longer."},
      {"keepalive-time", &o.rpc.keepalive_time,
       "A quiet connection is pinged after this. Higher: dead clients are seen "
       "later; lower: more packets."},
      {"keepalive-timeout", &o.rpc.keepalive_timeout,
       "A ping must be answered within this. Higher: as above."},
      {"min-ping-interval", &o.rpc.min_ping_interval,
       "Clients that ping more often are disconnected. Higher: refuses eager "
       "clients."},
      {"max-connection-age", &o.rpc.max_connection_age,
       "Connections are closed in good order after this, so that clients "
       "behind a balancer spread anew. Higher: they spread later."},
      {"max-connection-age-grace", &o.rpc.max_connection_age_grace,
       "What a call that runs then may still take. Higher: old connections "
       "stay longer."},
      {"reflection", &o.rpc.reflection,
       "Answer grpc.reflection, which shows the API to anybody."},
      {"tls-cert", &o.rpc.tls_cert,
       "PEM file of the certificate chain. Empty: plain text."},
      {"tls-key", &o.rpc.tls_key, "PEM file of the private key."},
      {"drain-delay", &o.drain_delay,
       "After SIGTERM, serve on for this long as not ready, until balancers "
       "have seen it. Higher: slower shutdown."},
      {"drain-timeout", &o.drain_timeout,
       "After SIGTERM, what runs may take this long. Higher: slower shutdown."},
      {"log-level", &o.log_level,
       "debug, info, warning or error. Lower: a line for every call."},
  };
}

absl::Status Bad(absl::string_view text, absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", absl::CHexEscape(text.substr(0, 200)), "' is not ", expected));
}

absl::StatusOr<size_t> ParseBytes(absl::string_view text) {
  absl::string_view digits = text;
  int shift = 0;
  for (const auto& [suffix, bits] :
       {std::pair("KiB", 10), {"MiB", 20}, {"GiB", 30}}) {
    if (absl::ConsumeSuffix(&digits, suffix)) {
      shift = bits;
      break;
    }
  }
  uint64_t value = 0;
  if (!absl::SimpleAtoi(digits, &value) ||
      value > std::numeric_limits<uint64_t>::max() >> shift) {
    return Bad(text, "a number of bytes (1000000, 64MiB, 2GiB)");
  }
  return value << shift;
}

// Reads `text` into the target.
struct Reader {
  absl::string_view text;

  absl::Status operator()(int* to) const {
    return absl::SimpleAtoi(text, to) ? absl::OkStatus()
                                      : Bad(text, "a whole number");
  }
  absl::Status operator()(size_t* to) const {
    ASSIGN_OR_RETURN(*to, ParseBytes(text));
    return absl::OkStatus();
  }
  absl::Status operator()(bool* to) const {
    return absl::SimpleAtob(text, to) ? absl::OkStatus()
                                      : Bad(text, "true or false");
  }
  absl::Status operator()(std::string* to) const {
    *to = std::string(text);
    return absl::OkStatus();
  }
  absl::Status operator()(std::vector<std::string>* to) const {
    to->push_back(std::string(text));
    return absl::OkStatus();
  }
  absl::Status operator()(absl::Duration* to) const {
    return absl::ParseDuration(text, to)
               ? absl::OkStatus()
               : Bad(text, "a duration (500ms, 30s, 10m, inf)");
  }
  absl::Status operator()(LogLevel* to) const {
    ASSIGN_OR_RETURN(*to, ParseLogLevel(text));
    return absl::OkStatus();
  }
  absl::Status operator()(Isa* to) const {
    ASSIGN_OR_RETURN(*to, ParseIsa(text));
    return absl::OkStatus();
  }
  absl::Status operator()(std::optional<DType>* to) const {
    to->reset();
    if (text == "auto") return absl::OkStatus();
    const absl::StatusOr<DType> dtype = ParseDType(text);
    if (!dtype.ok()) return Bad(text, "f32, bf16, int8 or auto");
    *to = *dtype;
    return absl::OkStatus();
  }
};

// The value as --help shows it.
struct Writer {
  std::string operator()(const int* value) const {
    return absl::StrCat(*value);
  }
  std::string operator()(const size_t* value) const {
    return absl::StrCat(*value >> 20, "MiB");
  }
  std::string operator()(const bool* value) const {
    return *value ? "true" : "false";
  }
  std::string operator()(const std::string* value) const {
    return value->empty() ? "empty" : *value;
  }
  std::string operator()(const std::vector<std::string>* value) const {
    return value->empty() ? "empty" : absl::StrJoin(*value, ",");
  }
  std::string operator()(const absl::Duration* value) const {
    return absl::FormatDuration(*value);
  }
  std::string operator()(const LogLevel* value) const {
    return std::string(LogLevelName(*value));
  }
  std::string operator()(const Isa* value) const {
    return std::string(IsaName(*value));
  }
  std::string operator()(const std::optional<DType>* value) const {
    return value->has_value() ? std::string(DTypeName(**value)) : "auto";
  }
};

std::string VariableName(absl::string_view flag) {
  return absl::StrCat("ATTEND_", absl::AsciiStrToUpper(
                                     absl::StrReplaceAll(flag, {{"-", "_"}})));
}

absl::Status Read(const Row& row, absl::string_view text,
                  absl::string_view from) {
  const absl::Status status = std::visit(Reader{text}, row.target);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(from, ": ", status.message()));
}

const Row* Find(const std::vector<Row>& rows, absl::string_view name) {
  for (const Row& row : rows) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

// One flag, which may take its value from the next argument.
absl::Status ReadFlag(const std::vector<std::string>& arguments, size_t& index,
                      const std::vector<Row>& rows) {
  const std::string& argument = arguments[index];
  absl::string_view name = argument;
  if (!absl::ConsumePrefix(&name, "--")) {
    return Bad(argument, "a flag; see --help");
  }
  const size_t equals = name.find('=');
  const Row* row = Find(rows, name.substr(0, equals));
  if (row == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown flag '", absl::CHexEscape(argument.substr(0, 200)),
        "'; see --help"));
  }
  const std::string flag = absl::StrCat("--", row->name);
  if (equals != absl::string_view::npos) {
    return Read(*row, name.substr(equals + 1), flag);
  }
  if (std::holds_alternative<bool*>(row->target)) {
    return Read(*row, "true", flag);
  }
  if (++index >= arguments.size()) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " needs a value"));
  }
  return Read(*row, arguments[index], flag);
}

// All variables that are set; those of lists are split at commas.
absl::Status ReadVariables(const Environment& environment,
                           const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const std::string variable = VariableName(row.name);
    const auto value = environment(variable);
    if (!value) continue;
    if (std::holds_alternative<std::vector<std::string>*>(row.target)) {
      for (absl::string_view item : absl::StrSplit(*value, ',')) {
        RETURN_IF_ERROR(Read(row, item, variable));
      }
    } else {
      RETURN_IF_ERROR(Read(row, *value, variable));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ServerOptions::Validate() const {
  ATTEND_CHECK(!models.empty());
  if (compute.threads < 0 || compute.threads > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", compute.threads, ", must be in [0, 1024]"));
  }
  if (http.port < 0 || http.port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("http_port is ", http.port, ", must be in [0, 65535]"));
  }
  for (absl::Duration duration : {drain_delay, drain_timeout}) {
    if (duration < absl::ZeroDuration() || duration > absl::Hours(24)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "drain_delay or drain_timeout is ", absl::FormatDuration(duration),
          ", must be in [0, 24h]"));
    }
  }
  RETURN_IF_ERROR(engine.Validate());
  RETURN_IF_ERROR(scheduler.Validate());
  return rpc.Validate();
}

absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments, const Environment& environment) {
  CommandLine line;
  ModelOptions models;
  const std::vector<Row> rows = Rows(models, line.options);
  RETURN_IF_ERROR(ReadVariables(environment, rows));
  const std::vector<std::string> variable_models = std::move(models.models);
  models.models.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--help" || arguments[i] == "-h") {
      line.help = true;
    } else if (arguments[i] == "--version") {
      line.version = true;
    } else {
      RETURN_IF_ERROR(ReadFlag(arguments, i, rows));
    }
  }
  ServerOptions& options = line.options;
  if (models.models.empty()) models.models = variable_models;
  // One budget: what the engine can take is what the batcher may give.
  // All beams of an input go into one step, whatever the budget is.
  options.engine.max_step_rows =
      std::max(options.scheduler.max_batch_tokens, options.engine.max_beams);
  if (line.help || line.version) return line;
  ASSIGN_OR_RETURN(options.models, FindModels(models));
  RETURN_IF_ERROR(options.Validate());
  return line;
}

std::string HelpText() {
  ModelOptions models;
  ServerOptions defaults;
  std::string text =
      "attend-server: serves transformer models over gRPC.\n\n"
      "Each option is a flag (--name=value) or an environment variable; the "
      "flag wins.\n\n";
  for (const Row& row : Rows(models, defaults)) {
    absl::StrAppend(&text, "  --", row.name, "  (", VariableName(row.name),
                    ", default ", std::visit(Writer(), row.target), ")\n      ",
                    row.help, "\n");
  }
  absl::StrAppend(&text,
                  "  --help\n      Print this.\n"
                  "  --version\n      Print the version.\n");
  return text;
}

}  // namespace attend
