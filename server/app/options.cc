#include "server/app/options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"
#include "server/app/option_parser.h"

namespace attend {
namespace {

// All flags, with what they cost.
void AddOptions(OptionParser& parser, ModelOptions& m, ServerOptions& o) {
  parser.Add(
      "model", m.models,
      "Directory of a model (config.json, model.safetensors, tokenizer), or "
      "NAME=DIRECTORY: requests call it by that name, else by the directory's "
      "own. Repeated, or with commas in the variable: several models, which "
      "take turns on the same threads; each has memory and limits of its "
      "own. Default: models/en-de.");
  parser.Add("model-name", m.model_name,
             "Name of the model, if there is one --model without a name.");
  parser.Add(
      "models-dir", m.models_dir,
      "Serve each directory in this one that has a config.json, by its name; "
      "beside those of --model.");
  parser.Add(
      "default-model", m.default_model,
      "Name of the model for requests that name none. Default: the first "
      "--model, else the first of --models-dir by name.");
  parser.Add("host", o.rpc.host, "Address that the gRPC port listens on.");
  parser.Add("port", o.rpc.port, "gRPC port. 0: any free one, see the log.");
  parser.Add("http-host", o.http.host,
             "Address that the HTTP port listens on.");
  parser.Add("http-port", o.http.port,
             "Port of /metrics, /livez and /readyz. 0: any free one.");
  parser.Add(
      "threads", o.compute.threads,
      "Threads that compute. 0: the CPU quota of the cgroup; more than that "
      "makes every step slower.");
  parser.Add("cpu-isa", o.compute.max_isa,
             "Instructions used at most: baseline, avx2, avx512, avx512_vnni, "
             "avx512_bf16, amx. Lower is slower; for comparisons.");
  parser.Add(
      "dtype", o.engine.dtype,
      "Numbers that the model's matmuls compute with: f32, bf16, int8, or "
      "auto: bf16 where the CPU multiplies it natively, else f32. int8 is the "
      "fastest and costs a little quality.");
  parser.Add(
      "kv-cache-bytes", o.engine.kv_cache_bytes,
      "Memory for keys and values of each model (also 512MiB, 2GiB). Higher: "
      "more sequences at once; all of it is taken at the start.");
  parser.Add(
      "kv-cache-dtype", o.engine.kv_cache_dtype,
      "Numbers that keys and values are kept in: f32, bf16, int8, or auto: as "
      "the model computes. Fewer bytes: faster steps and more sequences at "
      "once, a little less exact.");
  parser.Add(
      "prefix-cache", o.engine.prefix_cache,
      "Keep keys and values while there is room, so that only the rest of a "
      "prompt that begins alike is computed, and a source that was encoded is "
      "not encoded again. false: for comparisons.");
  parser.Add(
      "max-source-tokens", o.engine.max_source_tokens,
      "Longest source. Higher: more memory, and longer steps for all while a "
      "long one is encoded. 0: 512, and for models that continue it all that "
      "they have positions for.");
  parser.Add("max-batch-tokens", o.scheduler.max_batch_tokens,
             "Rows computed in one step. Higher: more throughput, later first "
             "token, longer waits of other models, more memory.");
  parser.Add(
      "max-running", o.scheduler.max_running,
      "Inputs of each model that run at once. Higher: more throughput, slower "
      "single ones.");
  parser.Add(
      "max-queued-requests", o.scheduler.max_queued_requests,
      "Inputs that wait for each model. Higher: longer queues instead of "
      "refusals.");
  parser.Add(
      "max-queued-tokens", o.scheduler.max_queued_tokens,
      "Source tokens that wait for each model, over all inputs. Higher: as "
      "above.");
  parser.Add("aging", o.scheduler.aging,
             "Waiting this long raises an input by one priority. Higher: low "
             "priorities wait longer.");
  parser.Add(
      "max-beams", o.engine.max_beams,
      "Beams or samples of one input. Higher: one request may take more of "
      "the memory.");
  parser.Add("max-batch-inputs", o.rpc.max_batch_inputs,
             "Inputs of one call. Higher: one call may fill the queue.");
  parser.Add(
      "max-message-bytes", o.rpc.max_message_bytes,
      "Bytes of one request. Higher: more memory before anything is checked.");
  parser.Add(
      "max-concurrent-streams", o.rpc.max_concurrent_streams,
      "Calls at once on one connection; more wait in the client. Higher: one "
      "client may hold more.");
  parser.Add(
      "tokenizer-threads", o.rpc.tokenizer_threads,
      "Threads that tokenise. Higher: they take CPU time from computing.");
  parser.Add(
      "max-tokenizer-queue", o.rpc.max_tokenizer_queue,
      "Calls that wait to be tokenised. Higher: later refusals when flooded.");
  parser.Add(
      "slow-reader-timeout", o.rpc.slow_reader_timeout,
      "A call whose client has not read for so long is cancelled. Higher: "
      "dead clients hold memory longer.");
  parser.Add(
      "keepalive-time", o.rpc.keepalive_time,
      "A quiet connection is pinged after this. Higher: dead clients are seen "
      "later; lower: more packets.");
  parser.Add("keepalive-timeout", o.rpc.keepalive_timeout,
             "A ping must be answered within this. Higher: as above.");
  parser.Add(
      "min-ping-interval", o.rpc.min_ping_interval,
      "Clients that ping more often are disconnected. Higher: refuses eager "
      "clients.");
  parser.Add("max-connection-age", o.rpc.max_connection_age,
             "Connections are closed in good order after this, so that clients "
             "behind a balancer spread anew. Higher: they spread later.");
  parser.Add(
      "max-connection-age-grace", o.rpc.max_connection_age_grace,
      "What a call that runs then may still take. Higher: old connections "
      "stay longer.");
  parser.Add("reflection", o.rpc.reflection,
             "Answer grpc.reflection, which shows the API to anybody.");
  parser.Add("tls-cert", o.rpc.tls_cert,
             "PEM file of the certificate chain. Empty: plain text.");
  parser.Add("tls-key", o.rpc.tls_key, "PEM file of the private key.");
  parser.Add(
      "drain-delay", o.drain_delay,
      "After SIGTERM, serve on for this long as not ready, until balancers "
      "have seen it. Higher: slower shutdown.");
  parser.Add(
      "drain-timeout", o.drain_timeout,
      "After SIGTERM, what runs may take this long. Higher: slower shutdown.");
  parser.Add("log-level", o.log_level,
             "debug, info, warning or error. Lower: a line for every call.");
}

void AddFlags(OptionParser& parser, CommandLine& line) {
  parser.AddFlag("-h,--help", line.help, "Print this.");
  parser.AddFlag("--version", line.version, "Print the version.");
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
    const std::vector<std::string>& arguments) {
  CommandLine line;
  ModelOptions models;
  ServerOptions& options = line.options;
  OptionParser parser;
  AddOptions(parser, models, options);
  AddFlags(parser, line);
  RETURN_IF_ERROR(parser.Parse(arguments));
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
  CommandLine line;
  OptionParser parser;
  AddOptions(parser, models, line.options);
  AddFlags(parser, line);
  return absl::StrCat("attend-server: serves transformer models over gRPC.\n\n",
                      parser.Help());
}

}  // namespace attend
