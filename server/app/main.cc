// attend-server: flags -> objects -> wait -> drain.

#include <google/protobuf/stubs/logging.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "command_line/completions.h"
#include "command_line/man_page.h"
#include "engine/compute/compute.h"
#include "engine/runtime/model.h"
#include "engine/tensor/status_macros.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "server/app/exceptions.h"
#include "server/app/health_check.h"
#include "server/app/http_port.h"
#include "server/app/inherited_sockets.h"
#include "server/app/load_models.h"
#include "server/app/model_loader.h"
#include "server/app/open_doors.h"
#include "server/app/options.h"
#include "server/app/profile_calls.h"
#include "server/app/reserved_ports.h"
#include "server/app/served_certificates.h"
#include "server/app/served_models.h"
#include "server/app/served_tenants.h"
#include "server/app/service_manager.h"
#include "server/app/signals.h"
#include "server/app/start_profile.h"
#include "server/app/start_tracing.h"
#include "server/app/system_limits.h"
#include "server/app/wait_for_stop.h"
#include "server/grpc/descriptor.h"
#include "server/grpc/grpc_log.h"
#include "server/grpc/rpc_server.h"
#include "server/http/http_server.h"
#include "server/http_call/http_calls.h"
#include "server/inference/methods.h"
#include "server/observability/access_log.h"
#include "server/observability/log.h"
#include "server/observability/metrics.h"
#include "server/profile/profiler.h"
#include "server/reflection/methods.h"
#include "server/scheduler/clock.h"
#include "server/scheduler/scheduler.h"
#include "server/service/methods.h"
#include "server/service/service_call.h"
#include "server/tenants/tenant_file.h"

namespace attend {
namespace {

// Time for the last messages to reach their clients.
constexpr absl::Duration kFlushTime = absl::Seconds(5);
// Time to give back what the process has, after its last call.
constexpr absl::Duration kTearDownTime = absl::Seconds(10);
// Time for the last lines of the log, where the process ends on the spot.
constexpr absl::Duration kLastLinesTime = absl::Milliseconds(500);

// Ends the process without destructors: a thread is busy loading a model, which
// nobody needs any more, and which may take minutes. An interrupted download
// remains valid for the next start.
[[noreturn]] void EndAtOnce(Log& log) {
  log.Write(LogLevel::kInfo, "stopped", {{"while", "loading"}});
  log.Flush(kLastLinesTime);
  _exit(0);
}

// An orderly end: first no new work is taken, then running work may finish,
// then the rest is cut off.
void Drain(const ServerOptions& options, ModelLoader& loader,
           Profiler& profiler, CallEnvironment& calls, RpcServer& rpc,
           HttpCalls& http_calls, Log& log) {
  rpc.SetServing(false);
  log.Write(
      LogLevel::kInfo, "draining",
      {{"delay", options.drain_delay}, {"timeout", options.drain_timeout}});
  absl::SleepFor(options.drain_delay);
  rpc.LeaveInheritedSockets();
  calls.Drain();
  loader.Drain();
  if (!calls.WaitUntilIdle(options.drain_timeout)) {
    log.Write(LogLevel::kWarning, "drain_timeout", {});
    calls.Cut();
    calls.WaitUntilIdle(kFlushTime);
  }
  // While the threads that it names are there, and calls can be answered.
  profiler.End();
  rpc.Shutdown(kFlushTime);
  http_calls.Shutdown(kFlushTime);
  if (loader.busy()) EndAtOnce(log);
  log.Write(LogLevel::kInfo, "stopped", {});
}

// The methods of the protocols of the gRPC port.
std::vector<Method> RpcMethods(const ServerOptions& options) {
  std::vector<Method> methods = AttendMethods();
  for (const Method& method : AdminMethods()) methods.push_back(method);
  for (const Method& method : InferenceMethods()) methods.push_back(method);
  if (!options.reflection) return methods;
  for (const Method& method : ReflectionMethods()) methods.push_back(method);
  return methods;
}

void LogReady(const ServedModels& models, const Compute& compute,
              const RpcServer& rpc, const HttpServer& http,
              absl::Duration seconds, Log& log) {
  log.Write(LogLevel::kInfo, "ready",
            {{"model", models.table().DefaultName()},
             {"models", models.ready()},
             {"broken", models.table().All().size() - models.ready()},
             {"grpc_port", rpc.port()},
             {"http_port", http.port()},
             {"threads", compute.team().size()},
             {"numa_nodes", compute.team().nodes().size()},
             {"isa", IsaName(compute.isa())},
             {"seconds", seconds}});
}

absl::Status Serve(const ServerOptions& options, Signals& signals, Log& log) {
  const absl::Time begin = SteadyNow();
  RETURN_IF_ERROR(CheckDescriptors());
  WarnOfOpenDoors(options, log);
  ReservedPorts ports;
  RETURN_IF_ERROR(ports.Reserve(options.rpc, options.http));
  ASSIGN_OR_RETURN(const std::unique_ptr<AccessLog> access_log,
                   AccessLog::Open(options.access_log, log));
  Metrics metrics(ATTEND_VERSION,
                  AllMethodNames(RpcMethods(options), HttpApis()));
  metrics.AddLog("log", [&log] { return log.dropped(); });
  metrics.AddLog("access", [&access_log] { return access_log->dropped(); });
  // Certificates come before models, because loading models may take minutes.
  ASSIGN_OR_RETURN(const std::unique_ptr<Certificates> certificates,
                   LoadCertificates(options.tls, metrics, log));
  ASSIGN_OR_RETURN(const std::unique_ptr<Compute> compute,
                   NewCompute(options.compute));
  metrics.SetCompute(compute->team().size(), IsaName(compute->isa()));
  const SteadyClock clock;
  ASSIGN_OR_RETURN(const std::unique_ptr<TenantFile> tenants,
                   OpenTenants(options, metrics, log));
  Profiler profiler(ATTEND_VERSION);  // outlives what computes
  StepSignal step_signal;
  ServedModels models(options.scheduler, clock, metrics, step_signal);
  const Loading loading = {options, *compute,
                           models,  metrics,
                           log,     [&signals] { return signals.stopping(); }};
  ModelLoader loader(loading, step_signal);
  ProfileCalls profiles(profiler, step_signal);
  RETURN_IF_ERROR(LoadModels(loading, signals));
  if (signals.stopping()) return absl::OkStatus();
  compute->LoadAlone();
  // Heaps keep this much free memory for further calls. Memory freed by loading
  // has been returned to the system.
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  RETURN_IF_ERROR(CheckThreads());
  const KeyCheck may_see_health = NewKeyCheck(
      options.health_key_sha256, tenants ? &tenants->tenants() : nullptr);
  const std::unique_ptr<Tracing> tracing =
      StartTracing(options.otlp_endpoint, ATTEND_VERSION, metrics.spans(), log);
  CallEnvironment calls(
      {.models = models.table(),
       .clock = clock,
       .other_calls = metrics.other_calls(),
       .log = log,
       .version = ATTEND_VERSION,
       .max_batch_inputs = options.rpc.max_batch_inputs,
       .max_call_bytes = options.rpc.max_call_bytes,
       .max_document_sentences = options.rpc.max_document_sentences,
       .max_request_bytes = options.MaxRequestBytes(),
       .fair_share = options.rpc.fair_share,
       .tenants = tenants ? &tenants->tenants() : nullptr,
       .may_see_health = may_see_health,
       .tracer = tracing ? &tracing->tracer : nullptr,
       .access_log = access_log.get(),
       .control = options.CallsChangeModels() ? &loader : nullptr,
       .profiles = &profiles,
       .methods = RpcMethods(options)},
      options.rpc.tokenizer_threads, options.rpc.max_tokenizer_queue);
  signals.Started();
  ports.Release();
  ASSIGN_OR_RETURN(const std::unique_ptr<RpcServer> rpc,
                   RpcServer::Start(options.rpc, calls, step_signal,
                                    metrics.connections(), certificates.get()));
  HttpCalls http_calls(calls, step_signal, options.tls.requires_client());
  ASSIGN_OR_RETURN(
      const std::unique_ptr<HttpServer> http,
      StartHttp(
          options, ATTEND_VERSION,
          {.metrics = [&] { return metrics.Serialize(); },
           .live = [&] { return rpc->alive(); },
           .ready = [&] { return rpc->serving(); },
           .may_see_health = may_see_health,
           .open_metrics = [&] { return metrics.SerializeOpenMetrics(); }},
          http_calls, calls.requests, certificates.get()));
  StartProfile(options.profile, profiler, log);
  LogReady(models, *compute, *rpc, *http, SteadyNow() - begin, log);
  const ServiceManager manager;
  manager.Ready();
  // It tells the port of changes, so it ends before the port.
  const absl::Cleanup stop_loading = [&loader] { loader.Stop(); };
  if (options.ChangesModels()) {
    models.StartFreeing();
    loader.Start([&rpc] { rpc->ModelsChanged(); });
  }
  WaitForStop(
      signals, {tenants.get(), certificates.get(), *access_log},
      [&rpc, &manager] {
        rpc->SetServing(true);
        if (rpc->alive()) manager.Alive();
      },
      log);
  manager.Stopping();
  Drain(options, loader, profiler, calls, *rpc, http_calls, log);
  signals.EndWithin(kTearDownTime);
  return absl::OkStatus();
}

// Returns the exit code.
int Run(const CommandLine& line) {
  const ServerOptions& options = line.options;
  RaiseDescriptorLimit();
  ShareHeapsUnderLimit();
  // Large blocks go back to the system when they are freed.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  // To be called before the process has threads or much memory: it starts other
  // processes.
  Sandbox::Shared();
  Signals signals;
  Log log(options.log, STDERR_FILENO);
  signals.EndAtOnce([&log] { EndAtOnce(log); });
  const absl::Cleanup started = [&signals] { signals.Started(); };
  for (const std::string& warning : line.warnings) {
    log.Write(LogLevel::kWarning, "variable_ignored", {{"warning", warning}});
  }
  const GrpcLog grpc_log(log);
  // A message that cannot be parsed ends its call with a status, and has a line
  // in our log. Protobuf would write a second line, in another form, for each
  // such message.
  google::protobuf::SetLogHandler(nullptr);
  // The distribution's Abseil searches for deadlock cycles at each lock that
  // gRPC takes; that costs time.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const absl::Status status =
      CatchExceptions([&] { return Serve(options, signals, log); });
  if (status.ok()) return 0;
  log.Write(LogLevel::kError, "failed", {{"error", status.message()}});
  return 1;
}

// Prints what is asked for instead of a server. False: nothing is.
bool PrintText(const CommandLine& line) {
  std::string text;
  if (line.help) {
    text = HelpText();
  } else if (line.version) {
    text = "attend-server " ATTEND_VERSION "\n";
  } else if (line.man) {
    text = ManPage(DescribeServer());
  } else if (!line.completion.empty()) {
    text = CompletionScript(DescribeServer(), line.completion);
  }
  std::fputs(text.c_str(), stdout);
  return !text.empty();
}

// Returns the exit code.
int PrintError(const absl::Status& status, int code) {
  std::fprintf(stderr, "attend-server: %s\n",
               std::string(status.message()).c_str());
  return code;
}

// Does what is asked for instead of a server. Returns the exit code.
int Answer(const CommandLine& line) {
  UnblockSignals();
  if (PrintText(line)) return 0;
  const char* const key = std::getenv("ATTEND_TOKEN");
  const absl::Status healthy =
      CheckHealth(line.options.http, line.live_check ? "/livez" : "/readyz",
                  key == nullptr ? "" : key);
  return healthy.ok() ? 0 : PrintError(healthy, 1);
}

int Main(const std::vector<std::string>& arguments) {
  auto line = ParseCommandLine(arguments);
  if (!line.ok()) return PrintError(line.status(), 2);
  if (!line->serves()) return Answer(*line);
  const absl::Status inherited =
      InheritSockets(line->options.rpc, line->options.http);
  if (!inherited.ok()) return PrintError(inherited, 2);
  int code = 1;
  const absl::Status status = CatchExceptions([&] {
    code = Run(*line);
    return absl::OkStatus();
  });
  if (status.ok()) return code;
  std::fputs(
      FormatLogLine(line->options.log.format, absl::Now(), LogLevel::kError,
                    "failed", {{"error", status.message()}})
          .c_str(),
      stderr);
  return 1;
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  attend::BlockSignals();
  // The file has another name, see launcher.cc.
  prctl(PR_SET_NAME, "attend-server");
  attend::Sandbox::RunIfStartedForIt(argc, argv);
  if (!attend::OpenStandardDescriptors(argv)) return 1;
  return attend::RunWithStack([&] {
    return attend::Main(std::vector<std::string>(argv + 1, argv + argc));
  });
}
