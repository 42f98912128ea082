// attend-server: flags -> objects -> wait -> drain.

#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/compute/compute.h"
#include "engine/model.h"
#include "engine/tensor/status_macros.h"
#include "server/grpc/rpc_server.h"
#include "server/http/http_server.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/options.h"
#include "server/scheduler/scheduler.h"
#include "server/signals.h"

namespace attend {
namespace {

// Time for the last messages to reach their clients.
constexpr absl::Duration kFlushTime = absl::Seconds(5);

// Ends what runs, in order: see no new work first, then finish, then cut.
void Drain(const ServerOptions& options, Scheduler& scheduler, RpcServer& rpc,
           std::atomic<bool>& ready, Log& log) {
  ready = false;
  rpc.SetServing(false);
  log.Write(
      LogLevel::kInfo, "draining",
      {{"delay", options.drain_delay}, {"timeout", options.drain_timeout}});
  absl::SleepFor(options.drain_delay);
  rpc.Drain();
  scheduler.Drain();
  if (!scheduler.WaitUntilIdle(options.drain_timeout)) {
    log.Write(LogLevel::kWarning, "drain_timeout", {});
    rpc.Cut();
    scheduler.WaitUntilIdle(kFlushTime);
  }
  rpc.Shutdown(kFlushTime);
  log.Write(LogLevel::kInfo, "stopped", {});
}

absl::Status Serve(const ServerOptions& options, Signals& signals, Log& log) {
  const absl::Time begin = absl::Now();
  log.Write(LogLevel::kInfo, "loading",
            {{"version", ATTEND_VERSION}, {"model", options.model}});
  ASSIGN_OR_RETURN(const std::unique_ptr<Compute> compute,
                   NewCompute(options.compute));
  ASSIGN_OR_RETURN(
      const Model model,
      LoadModel(*compute, options.model, options.model_name, options.engine));
  if (signals.received()) return absl::OkStatus();

  const SystemClock clock;
  Metrics metrics(model.engine->info(), ATTEND_VERSION);
  StepSignal step_signal;
  Scheduler scheduler(options.scheduler, *model.engine, clock,
                      [&](const StepReport& report) {
                        metrics.OnStep(report);
                        step_signal.Notify();
                      });
  const Service service = {.engine = *model.engine,
                           .tokenizer = *model.tokenizer,
                           .scheduler = scheduler,
                           .clock = clock,
                           .metrics = metrics,
                           .log = log,
                           .max_batch_inputs = options.rpc.max_batch_inputs};
  std::atomic<bool> ready{true};
  ASSIGN_OR_RETURN(
      const std::unique_ptr<HttpServer> http,
      HttpServer::Start(options.http,
                        {.metrics = [&] { return metrics.Serialize(); },
                         .ready = [&] { return ready.load(); }}));
  ASSIGN_OR_RETURN(const std::unique_ptr<RpcServer> rpc,
                   RpcServer::Start(options.rpc, service, step_signal));
  log.Write(LogLevel::kInfo, "ready",
            {{"model", options.model_name},
             {"grpc_port", rpc->port()},
             {"http_port", http->port()},
             {"threads", compute->team().size()},
             {"isa", IsaName(compute->isa())},
             {"seconds", absl::Now() - begin}});
  signals.WaitForFirst();
  Drain(options, scheduler, *rpc, ready, log);
  return absl::OkStatus();
}

std::optional<std::string> ReadEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

int Main(const std::vector<std::string>& arguments) {
  const auto line = ParseCommandLine(arguments, ReadEnvironment);
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
