#ifndef ATTEND_SERVER_APP_OPTIONS_H_
#define ATTEND_SERVER_APP_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/compute/compute.h"
#include "engine/runtime/transformer_engine.h"
#include "server/app/model_sources.h"
#include "server/grpc/rpc_options.h"
#include "server/http/http_server.h"
#include "server/observability/log.h"
#include "server/scheduler/scheduler.h"

namespace attend {

// All that can be set from outside, by component. Flags and their environment
// twins exist here and nowhere else.
struct ServerOptions {
  std::vector<ModelSource> models;  // at least one; the default first
  ComputeOptions compute;
  EngineOptions engine;        // of each model
  SchedulerOptions scheduler;  // of each model
  RpcOptions rpc;
  HttpOptions http;
  LogLevel log_level = LogLevel::kInfo;

  // After a signal: still serving, so that balancers see the change first.
  absl::Duration drain_delay = absl::ZeroDuration();
  // What runs may take this long to end.
  absl::Duration drain_timeout = absl::Seconds(30);

  absl::Status Validate() const;
};

struct CommandLine {
  ServerOptions options;
  bool help = false;
  bool version = false;
};

// Options from flags (--max-running=64 or --max-running 64), else from the
// environment (ATTEND_MAX_RUNNING), else from the file that --config names
// (max-running = 64), else their defaults; validated, and a directory of models
// is listed. INVALID_ARGUMENT names the flag, variable or line. `arguments`
// leaves out the program's name.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments);

// Every flag with its variable, default and what raising it costs.
std::string HelpText();

}  // namespace attend

#endif  // ATTEND_SERVER_APP_OPTIONS_H_
