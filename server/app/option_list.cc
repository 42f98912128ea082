#include "server/app/option_list.h"

#include "server/app/model_option_list.h"
#include "server/app/port_option_list.h"

namespace attend {
namespace {

// The options by subject, in the order of --help. The help says what a higher
// value costs.

void AddReflection(OptionParser& parser, bool& reflection) {
  parser.Add("reflection", reflection,
             "Serve grpc.reflection, which shows the API to every client, or "
             "with --tenants to every client with a key.");
}

void AddCompute(OptionParser& parser, ComputeOptions& compute,
                EngineOptions& engine) {
  parser.Add("threads", compute.threads,
             "Number of compute threads. 0: the CPU quota of the cgroup. More "
             "threads than CPUs make every step slower.");
  parser.Add(
      "cpu-isa", compute.max_isa,
      "Highest instruction set to use: baseline, avx2, avx512, avx512_vnni, "
      "avx512_bf16, amx. Lower is slower; for comparisons.");
  parser.Add(
      "dtype", engine.dtype,
      "Data type of the matrix products: f32, bf16, int8, w8, int4 or auto. "
      "auto is int4 if most weights are stored in 4 bits; otherwise int8 if "
      "the CPU has instructions for it, w8 with AVX2, and f32 without. int8 is "
      "the fastest for many inputs, at a small cost in quality, int4 for a "
      "single one. f32 is exact. w8 quantises only weights, to 8 bits, on any "
      "CPU: slower than int8 for prompts, and closer to f32.");
}

void AddMemory(OptionParser& parser, EngineOptions& o) {
  parser.Add("kv-cache-bytes", o.kv_cache_bytes,
             "Memory for the keys and values of each model (1000000, 512MiB, "
             "2GiB), allocated at startup. Higher: more sequences at once.");
  parser.Add("kv-cache-dtype", o.kv_cache_dtype,
             "Data type of cached keys and values: f32, bf16, int8 or auto. "
             "auto: f32 for --dtype=f32, otherwise int8. Fewer bytes: faster "
             "steps and more sequences at once, but less precision.");
  parser.Add("prefix-cache", o.prefix_cache,
             "Cache keys and values while there is room. If a prompt shares a "
             "prefix with an earlier one, only the rest is computed; a cached "
             "source is not encoded again. false: for comparisons.");
  parser.Add(
      "prompt-lookup", o.prompt_lookup,
      "While few inputs run, draft tokens from the prompt, the source and the "
      "generated text, and verify them in one step (speculative decoding). "
      "Faster if texts repeat themselves; results do not change.");
  parser.Add(
      "max-source-tokens", o.max_source_tokens,
      "Maximum number of tokens of a source. Higher: more memory, and longer "
      "steps for all requests while a long source is encoded. 0: the model's "
      "number of positions if there is memory for them, otherwise 512.");
  parser.Add("max-beams", o.max_beams,
             "Maximum number of beams or samples of one input. Higher: one "
             "request may take more of the memory.");
}

void AddScheduling(OptionParser& parser, SchedulerOptions& o) {
  parser.Add(
      "max-batch-tokens", o.max_batch_tokens,
      "Maximum number of rows of one step. Higher: more throughput, but later "
      "first tokens, longer waits for other models, and more memory.");
  parser.Add("max-running", o.max_running,
             "Maximum number of running inputs per model. Higher: more "
             "throughput, but each input is slower.");
  parser.Add("max-queued-requests", o.max_queued_requests,
             "Maximum number of waiting inputs per model. Higher: longer "
             "queues instead of refusals.");
  parser.Add("max-queued-tokens", o.max_queued_tokens,
             "Maximum number of waiting source tokens per model, over all "
             "inputs. Higher: longer queues instead of refusals.");
  parser.Add("aging", o.aging,
             "Waiting time that raises the priority of an input by one. "
             "Higher: low priorities wait longer.");
}

void AddCalls(OptionParser& parser, RpcOptions& o) {
  parser.Add(
      "fair-share", o.fair_share,
      "Grouping of calls for fair sharing of a model. address: the calls from "
      "one host (through a proxy all calls come from one host). none: all "
      "calls together, served in the order of arrival.");
  parser.Add("max-batch-inputs", o.max_batch_inputs,
             "Maximum number of inputs of one call that wait or run at once, "
             "and of inputs of a call that generates, scores or tokenises. "
             "Higher: one call may fill the queue.");
  parser.Add(
      "max-call-bytes", o.max_call_bytes,
      "Maximum memory of the inputs and results of one call that embeds, "
      "classifies, fills masks, answers or ranks: 2 KiB per input, 32 bytes "
      "per token, 4 bytes per value. Higher: a call may have more inputs.");
  parser.Add(
      "max-document-sentences", o.max_document_sentences,
      "Maximum number of sentences of the documents of one call of Translate. "
      "Higher: one call may take more memory, and occupy a model for longer; "
      "at most --max-batch-inputs of them wait or run at once.");
  parser.Add("max-message-bytes", o.max_message_bytes,
             "Maximum number of bytes of one request. Higher: a call may take "
             "more memory before it is validated.");
  parser.Add("max-concurrent-streams", o.max_concurrent_streams,
             "Maximum number of concurrent calls on one connection; further "
             "calls wait in the client. Higher: one client may hold more.");
  parser.Add(
      "max-stream-requests", o.max_stream_requests,
      "Maximum number of concurrent requests of one stream (ModelStreamInfer); "
      "further ones wait in the client. Higher: one client may hold more.");
  parser.Add(
      "tokenizer-threads", o.tokenizer_threads,
      "Number of tokenizer threads. If there are several, one is reserved for "
      "short texts. Higher: they take CPU time from the compute threads.");
  parser.Add("max-tokenizer-queue", o.max_tokenizer_queue,
             "Maximum number of calls that wait for tokenisation. Higher: "
             "calls are refused later under overload.");
}

void AddKeys(OptionParser& parser, ServerOptions& o) {
  parser.Add("tenants", o.tenants_file,
             "JSON file of the tenants: the SHA-256 of their keys, their "
             "shares and limits (docs/security.md). Calls then need a key, and "
             "--fair-share is ignored. The file is reloaded when it changes, "
             "and on SIGHUP. Empty: calls need no key.");
  parser.Add("metrics-key-sha256", o.metrics_key_sha256,
             "SHA-256 of the key for /metrics: 64 hexadecimal digits. Empty: "
             "everybody may read /metrics.");
  parser.Add("health-key-sha256", o.health_key_sha256,
             "SHA-256 of the key for /livez, /readyz and grpc.health.v1: 64 "
             "hexadecimal digits. A tenant's key is accepted, too. Empty: "
             "everybody may check health.");
}

void AddConnections(OptionParser& parser, RpcOptions& o) {
  parser.Add("max-connections", o.max_connections,
             "Maximum number of connections. Further connections are closed on "
             "arrival, and so are connections that would take the last file "
             "descriptors. Higher: more memory.");
  parser.Add("max-connections-per-address", o.max_connections_per_address,
             "Maximum number of connections of one client address. IPv6 "
             "addresses with the same first 64 bits count as one. 0: no limit; "
             "all connections of a proxy have one address. Higher: one client "
             "may take more of the connections.");
  parser.Add("slow-reader-timeout", o.slow_reader_timeout,
             "Maximum time for a client to read an answer, or each MiB of a "
             "long one; over HTTP, each 16 KiB. A slower call is cancelled. "
             "Higher: dead clients hold memory longer.");
  parser.Add("keepalive-time", o.keepalive_time,
             "Idle time after which a connection is pinged. Higher: dead "
             "clients are detected later. Lower: more packets.");
  parser.Add("keepalive-timeout", o.keepalive_timeout,
             "Time to answer a ping before the connection is closed. Higher: "
             "dead clients are detected later.");
  parser.Add(
      "min-ping-interval", o.min_ping_interval,
      "Minimum interval between pings of a client; clients that ping more "
      "often are disconnected. Higher: more clients are disconnected.");
  parser.Add(
      "max-connection-age", o.max_connection_age,
      "Age after which a connection accepts no new calls, so a balancer can "
      "redistribute clients. Higher: clients are redistributed later.");
  parser.Add("max-connection-age-grace", o.max_connection_age_grace,
             "Time for running calls of a connection to finish after "
             "--max-connection-age. Higher: old connections stay longer.");
}

void AddAccessLog(OptionParser& parser, AccessLogOptions& o) {
  parser.Add("access-log", o.form,
             "Format of the log line of each call: logfmt, json, auto (that of "
             "--log-format) or off.");
  parser.Add("access-log-file", o.file,
             "File to which the lines of calls are appended; reopened on "
             "SIGHUP. Empty: the log.");
  parser.Add("access-log-sample", o.share,
             "Fraction of calls that are logged: 1 all, 0.01 one in a hundred, "
             "0 none. Failed calls are always logged.");
}

void AddProfile(OptionParser& parser, ProfileOptions& o) {
  parser.Add("profile", o.time,
             "Record a profile of the threads for this long once the server is "
             "ready, at most 60s. 0 disables it.");
  parser.Add("profile-file", o.file,
             "File for the result of --profile: a trace for Perfetto.");
}

void AddProcess(OptionParser& parser, ServerOptions& o) {
  parser.Add("drain-delay", o.drain_delay,
             "Time for which the server reports that it is not ready, but "
             "still serves, after SIGTERM, so balancers notice the change. "
             "Higher: slower shutdown.");
  parser.Add("drain-timeout", o.drain_timeout,
             "Time for running calls to finish after --drain-delay. Higher: "
             "slower shutdown.");
  parser.Add("log-level", o.log.min_level,
             "Minimum level of log lines: debug, info, warning or error. debug "
             "and info include the lines of calls, unless they have a file.");
  parser.Add(
      "log-format", o.log.format,
      "Format of the log: logfmt (key=value), or json (one object per line).");
  AddAccessLog(parser, o.access_log);
  parser.Add("otlp-endpoint", o.otlp_endpoint,
             "Address of a trace collector for OTLP over gRPC: "
             "http://host:4317, or https. Empty: that of OpenTelemetry's "
             "variables; without them no call is traced.");
}

}  // namespace

void AddOptions(OptionParser& parser, ServerOptions& o) {
  AddModelOptions(parser, o);
  AddPortOptions(parser, o);
  AddReflection(parser, o.reflection);
  AddCompute(parser, o.compute, o.engine);
  AddMemory(parser, o.engine);
  AddScheduling(parser, o.scheduler);
  AddCalls(parser, o.rpc);
  AddKeys(parser, o);
  AddConnections(parser, o.rpc);
  AddProcess(parser, o);
  AddProfile(parser, o.profile);
}

void AddFlags(OptionParser& parser, CommandLine& line) {
  parser.AddFlag("-h,--help", line.help, "Print this help.");
  parser.AddFlag("--health-check", line.health_check,
                 "Check whether the server that runs with these options on "
                 "this machine accepts calls, and exit with 0 if it does. "
                 "ATTEND_TOKEN is the key, if health needs one.");
  parser.AddFlag(
      "--live-check", line.live_check,
      "Check whether that server is alive, which it also is while it drains.");
  parser.AddFlag("--version", line.version, "Print the version.");
  parser.AddFlag("--man", line.man, "Print the manual page.");
  parser.AddFlag("--completion", line.completion, {"bash", "zsh", "fish"},
                 "Print the completion script of a shell: bash, zsh or fish.");
}

}  // namespace attend
