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
             "with --tenants to every client that has a key.");
}

void AddCompute(OptionParser& parser, ComputeOptions& compute,
                EngineOptions& engine) {
  parser.Add(
      "threads", compute.threads,
      "Number of threads that compute. 0: the CPU quota of the cgroup. More "
      "threads than CPUs make every step slower.");
  parser.Add(
      "cpu-isa", compute.max_isa,
      "The highest instruction set to use: baseline, avx2, avx512, "
      "avx512_vnni, avx512_bf16, amx. Lower is slower; for comparisons.");
  parser.Add(
      "dtype", engine.dtype,
      "Numbers of the matrix products: f32, bf16, int8, w8, int4 or auto. auto "
      "is int4 if most weights are stored in 4 bits, else int8 if the CPU has "
      "instructions for it, else w8 with AVX2, else f32. int8 is the "
      "fastest for many inputs and costs a little quality, int4 for one. f32 "
      "is exact. w8 rounds weights only, to 8 bits, on any CPU: slower than "
      "int8 for prompts, and nearer to f32.");
}

void AddMemory(OptionParser& parser, EngineOptions& o) {
  parser.Add("kv-cache-bytes", o.kv_cache_bytes,
             "Memory for the keys and values of each model (1000000, 512MiB, "
             "2GiB), taken at the start. Higher: more sequences at once.");
  parser.Add(
      "kv-cache-dtype", o.kv_cache_dtype,
      "Numbers in which keys and values are kept: f32, bf16, int8 or "
      "auto. auto: f32 for --dtype=f32, else int8. Fewer bytes: faster steps "
      "and more sequences at once, but less exact.");
  parser.Add(
      "prefix-cache", o.prefix_cache,
      "Keep keys and values while there is room. If a prompt begins like "
      "an earlier prompt, only the rest is computed; a known source is "
      "not encoded again. false: for comparisons.");
  parser.Add(
      "prompt-lookup", o.prompt_lookup,
      "While few inputs run, draft tokens from the prompt, the source and what "
      "is generated, and compute them together with the token before them. "
      "Faster where texts repeat themselves; results do not change.");
  parser.Add(
      "max-source-tokens", o.max_source_tokens,
      "Tokens of the longest source. Higher: more memory, and longer "
      "steps for all requests while a long source is encoded. 0: all that "
      "the model has positions for, if there is memory for them, else 512.");
  parser.Add(
      "max-beams", o.max_beams,
      "The most beams or samples of one input. Higher: one request may take "
      "more of the memory.");
}

void AddScheduling(OptionParser& parser, SchedulerOptions& o) {
  parser.Add("max-batch-tokens", o.max_batch_tokens,
             "The most rows of one step. Higher: more throughput, but later "
             "first tokens, longer waits of other models, and more memory.");
  parser.Add("max-running", o.max_running,
             "The most inputs of each model that run at once. Higher: more "
             "throughput, but each input is slower.");
  parser.Add(
      "max-queued-requests", o.max_queued_requests,
      "The most inputs that wait for each model. Higher: longer queues instead "
      "of refusals.");
  parser.Add(
      "max-queued-tokens", o.max_queued_tokens,
      "The most source tokens that wait for each model, over all inputs. "
      "Higher: longer queues instead of refusals.");
  parser.Add(
      "aging", o.aging,
      "Waiting this long raises the priority of an input by one. Higher: "
      "low priorities wait longer.");
}

void AddCalls(OptionParser& parser, RpcOptions& o) {
  parser.Add(
      "fair-share", o.fair_share,
      "Which calls count together when a model is shared equally, however "
      "many calls come. address: the calls from one host (behind a proxy "
      "all calls come from one host). none: all calls, which are then "
      "served in the order of arrival.");
  parser.Add(
      "max-batch-inputs", o.max_batch_inputs,
      "The most inputs of one call that wait or run at once, and the most "
      "inputs of a call that generates, scores or tokenises. Higher: one call "
      "may fill the queue.");
  parser.Add(
      "max-call-bytes", o.max_call_bytes,
      "Memory of the inputs and results of one call that embeds, classifies, "
      "fills masks, answers or ranks: 2 KiB for each input, 32 bytes for each "
      "token, 4 bytes for each value. Higher: a call may have more inputs.");
  parser.Add(
      "max-document-sentences", o.max_document_sentences,
      "The most sentences of the documents of one call of Translate. Higher: "
      "one call may take more memory, and a model for longer; no more than "
      "--max-batch-inputs of them wait or run at once.");
  parser.Add(
      "max-message-bytes", o.max_message_bytes,
      "The most bytes of one request. Higher: a call may take more memory "
      "before anything is checked.");
  parser.Add(
      "max-concurrent-streams", o.max_concurrent_streams,
      "The most calls at once on one connection; further calls wait in the "
      "client. Higher: one client may hold more.");
  parser.Add("max-stream-requests", o.max_stream_requests,
             "The most requests in work at once of one stream of requests "
             "(ModelStreamInfer); further ones wait in the client. Higher: one "
             "client may hold more.");
  parser.Add(
      "tokenizer-threads", o.tokenizer_threads,
      "Number of threads that tokenise. One of several threads takes "
      "short texts only. Higher: they take CPU time from the threads that "
      "compute.");
  parser.Add("max-tokenizer-queue", o.max_tokenizer_queue,
             "The most calls that wait to be tokenised. Higher: calls are "
             "refused later in a flood.");
}

void AddKeys(OptionParser& parser, ServerOptions& o) {
  parser.Add(
      "tenants", o.tenants_file,
      "JSON file of the tenants: the SHA-256 of their keys, their shares "
      "and limits (docs/security.md). Calls then need a key, and "
      "--fair-share is ignored. The file is read again when it changes, "
      "and on SIGHUP. Empty: calls need no key.");
  parser.Add("metrics-key-sha256", o.metrics_key_sha256,
             "SHA-256 of the key that requests for /metrics must have: 64 "
             "hexadecimal digits. Empty: everybody may read /metrics.");
  parser.Add(
      "health-key-sha256", o.health_key_sha256,
      "SHA-256 of the key that /livez, /readyz and grpc.health.v1 need: 64 "
      "hexadecimal digits. A tenant's key serves, too. Empty: everybody may "
      "ask for health.");
}

void AddConnections(OptionParser& parser, RpcOptions& o) {
  parser.Add("max-connections", o.max_connections,
             "The most connections at once. Further connections are closed as "
             "they come, and so are connections that would take the last file "
             "descriptors. Higher: more memory.");
  parser.Add(
      "max-connections-per-address", o.max_connections_per_address,
      "The most connections at once of one client address. IPv6 addresses "
      "with the same first 64 bits count as one. 0: no limit; behind a "
      "proxy all connections have one address. Higher: one client may "
      "take more of the connections.");
  parser.Add(
      "slow-reader-timeout", o.slow_reader_timeout,
      "A call is cancelled if its client takes longer to read an answer, or "
      "each MiB of a long one; over HTTP, each 16 KiB. Higher: dead clients "
      "hold memory longer.");
  parser.Add("keepalive-time", o.keepalive_time,
             "A connection that is quiet for this long is pinged. Higher: dead "
             "clients are noticed later. Lower: more packets.");
  parser.Add("keepalive-timeout", o.keepalive_timeout,
             "A connection is closed if a ping is not answered within this "
             "time. Higher: dead clients are noticed later.");
  parser.Add("min-ping-interval", o.min_ping_interval,
             "Clients that ping more often are disconnected. Higher: more "
             "clients are disconnected.");
  parser.Add("max-connection-age", o.max_connection_age,
             "A connection takes no new calls after this time, so that a "
             "balancer can distribute clients anew. Higher: clients are "
             "distributed later.");
  parser.Add("max-connection-age-grace", o.max_connection_age_grace,
             "After --max-connection-age, running calls of a connection have "
             "this long to end. Higher: old connections stay longer.");
}

void AddAccessLog(OptionParser& parser, AccessLogOptions& o) {
  parser.Add("access-log", o.form,
             "A line for each call: logfmt, json, auto (as --log-format says) "
             "or off.");
  parser.Add("access-log-file", o.file,
             "The file that the lines of calls are appended to; opened anew on "
             "SIGHUP. Empty: they go to the log.");
  parser.Add("access-log-sample", o.share,
             "The share of calls that have a line: 1 all, 0.01 one in a "
             "hundred, 0 none. Calls that fail have a line at any share.");
}

void AddProfile(OptionParser& parser, ProfileOptions& o) {
  parser.Add("profile", o.time,
             "Once the server is ready, records for this long what its threads "
             "compute, at most 60s; 0: does not.");
  parser.Add(
      "profile-file", o.file,
      "The file that --profile writes at its end: a trace for Perfetto.");
}

void AddProcess(OptionParser& parser, ServerOptions& o) {
  parser.Add(
      "drain-delay", o.drain_delay,
      "After SIGTERM the server reports that it is not ready, but serves "
      "for this long, so that balancers see the change. Higher: slower "
      "shutdown.");
  parser.Add(
      "drain-timeout", o.drain_timeout,
      "After --drain-delay, running calls have this long to end. Higher: "
      "slower shutdown.");
  parser.Add(
      "log-level", o.log.min_level,
      "Lines below this level are left out: debug, info, warning or error. "
      "debug and info: the lines of calls, too, unless they have a file.");
  parser.Add("log-format", o.log.format,
             "logfmt (key=value), or json (an object a line).");
  AddAccessLog(parser, o.access_log);
  parser.Add(
      "otlp-endpoint", o.otlp_endpoint,
      "Where a collector of traces takes OTLP over gRPC: http://host:4317, or "
      "https. Empty: as OpenTelemetry's variables say; without them no call is "
      "traced.");
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
                 "Ask the server that runs with these options on this machine "
                 "whether it takes calls. The exit code is 0 if it does. "
                 "ATTEND_TOKEN is the key, if health needs one.");
  parser.AddFlag("--live-check", line.live_check,
                 "The same, but ask whether the server is alive: it is so "
                 "while it drains, too.");
  parser.AddFlag("--version", line.version, "Print the version.");
  parser.AddFlag("--man", line.man, "Print the manual page.");
  parser.AddFlag("--completion", line.completion, {"bash", "zsh", "fish"},
                 "Print what completes options in a shell: bash, zsh or fish.");
}

}  // namespace attend
