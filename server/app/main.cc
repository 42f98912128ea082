// attend-server: flags -> objects -> wait -> drain.

#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/compute/compute.h"
#include "engine/runtime/model.h"
#include "engine/tensor/status_macros.h"
#include "server/app/options.h"
#include "server/app/served_models.h"
#include "server/app/signals.h"
#include "server/grpc/rpc_server.h"
#include "server/http/http_server.h"
#include "server/observability/log.h"
#include "server/observability/metrics.h"
#include "server/scheduler/scheduler.h"
#include "server/service/methods.h"
#include "server/service/service_call.h"

namespace attend {
namespace {

// Time for the last messages to reach their clients.
constexpr absl::Duration kFlushTime = absl::Seconds(5);

// Ends what runs, in order: see no new work first, then finish, then cut.
void Drain(const ServerOptions& options, ServedModels& models,
           CallEnvironment& calls, RpcServer& rpc, std::atomic<bool>& ready,
           Log& log) {
  ready = false;
  rpc.SetServing(false);
  log.Write(
      LogLevel::kInfo, "draining",
      {{"delay", options.drain_delay}, {"timeout", options.drain_timeout}});
  absl::SleepFor(options.drain_delay);
  calls.Drain();
  models.Drain();
  if (!models.WaitUntilIdle(options.drain_timeout)) {
    log.Write(LogLevel::kWarning, "drain_timeout", {});
    calls.Cut();
    models.WaitUntilIdle(kFlushTime);
  }
  rpc.Shutdown(kFlushTime);
  log.Write(LogLevel::kInfo, "stopped", {});
}

// One model after the other, and what became of each. Those that cannot be
// loaded do not keep the others from serving.
struct Loaded {
  std::string name;
  absl::StatusOr<Model> model;
};

Loaded Load(Compute& compute, const ModelSource& source,
            const EngineOptions& options, Log& log) {
  const absl::Time begin = absl::Now();
  log.Write(LogLevel::kInfo, "loading",
            {{"version", ATTEND_VERSION},
             {"model", source.name},
             {"directory", source.directory}});
  auto model = LoadModel(compute, source.directory, source.name, options);
  if (model.ok()) {
    const ModelInfo& info = model->engine->info();
    log.Write(LogLevel::kInfo, "loaded",
              {{"model", source.name},
               {"family", info.family},
               {"dtype", info.dtype},
               {"seconds", absl::Now() - begin}});
  }
  return {source.name, std::move(model)};
}

// Empty: a signal came.
absl::StatusOr<std::vector<Loaded>> LoadAll(const ServerOptions& options,
                                            Compute& compute, Signals& signals,
                                            Log& log) {
  std::vector<Loaded> all;
  bool any = false;
  for (const ModelSource& source : options.models) {
    all.push_back(Load(compute, source, options.engine, log));
    if (signals.received()) return std::vector<Loaded>();
    const absl::Status& status = all.back().model.status();
    any |= status.ok();
    if (options.models.size() == 1) RETURN_IF_ERROR(status);
    if (status.ok()) continue;
    log.Write(LogLevel::kError, "model_failed",
              {{"model", source.name}, {"error", status.message()}});
  }
  if (any) return all;
  return absl::InvalidArgumentError(absl::StrCat(
      "none of the ", all.size(), " models could be loaded; see above"));
}

absl::Status Serve(const ServerOptions& options, Signals& signals, Log& log) {
  const absl::Time begin = absl::Now();
  ASSIGN_OR_RETURN(const std::unique_ptr<Compute> compute,
                   NewCompute(options.compute));
  ASSIGN_OR_RETURN(std::vector<Loaded> loaded,
                   LoadAll(options, *compute, signals, log));
  if (loaded.empty()) return absl::OkStatus();

  const SystemClock clock;
  Metrics metrics(ATTEND_VERSION, MethodNames(AttendMethods()));
  StepSignal step_signal;
  ServedModels models(options.scheduler, clock, metrics, step_signal);
  for (Loaded& model : loaded) models.Add(model.name, std::move(model.model));
  CallEnvironment calls({.models = models.entries(),
                         .clock = clock,
                         .other_calls = metrics.other_calls(),
                         .log = log,
                         .max_batch_inputs = options.rpc.max_batch_inputs},
                        options.rpc.tokenizer_threads,
                        options.rpc.max_tokenizer_queue);
  std::atomic<bool> ready{true};
  ASSIGN_OR_RETURN(
      const std::unique_ptr<HttpServer> http,
      HttpServer::Start(options.http,
                        {.metrics = [&] { return metrics.Serialize(); },
                         .ready = [&] { return ready.load(); }}));
  ASSIGN_OR_RETURN(const std::unique_ptr<RpcServer> rpc,
                   RpcServer::Start(options.rpc, calls, step_signal));
  log.Write(LogLevel::kInfo, "ready",
            {{"model", loaded.front().name},
             {"models", models.ready()},
             {"broken", loaded.size() - models.ready()},
             {"grpc_port", rpc->port()},
             {"http_port", http->port()},
             {"threads", compute->team().size()},
             {"isa", IsaName(compute->isa())},
             {"seconds", absl::Now() - begin}});
  signals.WaitForFirst();
  Drain(options, models, calls, *rpc, ready, log);
  return absl::OkStatus();
}

int Main(const std::vector<std::string>& arguments) {
  const auto line = ParseCommandLine(arguments);
  if (!line.ok()) {
    std::fprintf(stderr, "attend-server: %s\n",
                 std::string(line.status().message()).c_str());
    return 2;
  }
  if (line->help || line->version) {
    std::fputs(
        line->help ? HelpText().c_str() : "attend-server " ATTEND_VERSION "\n",
        stdout);
    return 0;
  }
  Signals signals;
  Log log(line->options.log_level, STDERR_FILENO);
  // A message that cannot be parsed has its status and its line in our log; a
  // second line, of another form, would be one for each that a client sends.
  google::protobuf::SetLogHandler(nullptr);
  // The distribution's Abseil looks for cycles of locks, at each lock of
  // gRPC's.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const absl::Status status = Serve(line->options, signals, log);
  if (status.ok()) return 0;
  log.Write(LogLevel::kError, "failed", {{"error", status.message()}});
  return 1;
}

}  // namespace
}  // namespace attend

int main(int argc, char** argv) {
  return attend::Main(std::vector<std::string>(argv + 1, argv + argc));
}
