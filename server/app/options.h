#ifndef ATTEND_SERVER_APP_OPTIONS_H_
#define ATTEND_SERVER_APP_OPTIONS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "command_line/program_text.h"
#include "engine/compute/compute.h"
#include "engine/runtime/transformer_engine.h"
#include "server/app/model_sources.h"
#include "server/app/start_profile.h"
#include "server/grpc/rpc_options.h"
#include "server/http/http_options.h"
#include "server/hub/hub_settings.h"
#include "server/observability/access_log.h"
#include "server/observability/log.h"
#include "server/scheduler/scheduler.h"
#include "server/service/model_alias.h"
#include "server/service/model_control.h"
#include "server/tls/tls_options.h"

namespace attend {

// All options of the server, by component. option_list.h makes flags, variables
// and lines of the file of them.
struct ServerOptions {
  std::vector<ModelSource> models;  // at least one; the default first
  std::vector<ModelAlias> aliases;
  // Where they, and those that are loaded later, were and are found.
  ModelOptions model_options;
  HubSettings hub;
  ModelControlMode model_control = ModelControlMode::kNone;
  // For ModelControlMode::kPoll: time between two scans of models_dir.
  absl::Duration model_poll_interval = absl::Seconds(15);
  // Unload idle models to make room for a model that does not fit.
  bool idle_unload = false;
  ComputeOptions compute;
  EngineOptions engine;        // for each model; but see EngineOf()
  SchedulerOptions scheduler;  // the same for each model
  RpcOptions rpc;
  // Serve grpc.reflection, which shows the descriptors of the API to every
  // client, or where there are tenants, to those that have a key.
  bool reflection = true;
  TlsOptions tls;  // for all ports
  HttpOptions http;
  bool page = true;  // serve the page on the HTTP port
  LogOptions log;
  AccessLogOptions access_log;
  ProfileOptions profile;
  // JSON file of the tenants and the hashes of their keys. Empty: no keys.
  std::string tenants_file = "";
  // SHA-256, in hexadecimal, of the key that a request for /metrics must have,
  // and of that for health, for which a tenant's key serves, too. Empty: no key
  // is needed.
  std::string metrics_key_sha256 = "";
  std::string health_key_sha256 = "";

  // Where a collector takes spans by OTLP over gRPC. Empty: OpenTelemetry's
  // variables say it, if they do.
  std::string otlp_endpoint = "";

  // After a signal to end, the server says that it is not ready, and still
  // serves for this long. Thus balancers see the change before calls are
  // refused.
  absl::Duration drain_delay = absl::ZeroDuration();
  // After drain_delay, running calls have this long to end.
  absl::Duration drain_timeout = absl::Seconds(30);

  // INVALID_ARGUMENT names the option, its value and its limits.
  absl::Status Validate() const;
  // True if models may change while calls run.
  bool ChangesModels() const {
    return model_control != ModelControlMode::kNone;
  }
  // True if calls may change models.
  bool CallsChangeModels() const {
    return model_control == ModelControlMode::kExplicit;
  }
  // The options of one of the models.
  EngineOptions EngineOf(const ModelSource& source) const;
  // The limit of the RequestBudget: room for several requests, however long one
  // may be.
  size_t MaxRequestBytes() const;
};

struct CommandLine {
  ServerOptions options;
  bool help = false;
  bool version = false;
  bool man = false;
  bool health_check = false;
  bool live_check = false;
  std::string completion;  // the shell; empty: not asked for
  // Sentences about variables that were ignored, for the log.
  std::vector<std::string> warnings;

  // True if a server is asked for, and not one of the above.
  bool serves() const {
    return !help && !version && !man && !checks() && completion.empty();
  }
  bool checks() const { return health_check || live_check; }
};

// The options from flags, variables, and the file that --config names, in this
// order of precedence (see OptionParser), otherwise the defaults. They are
// valid, and the models have been found (for checks(), only those of the HTTP
// port are valid). INVALID_ARGUMENT names the flag, variable or line.
// `arguments` does not have the name of the program.
absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments);

// The text of --help: each flag with its variable, its default and what a
// higher value costs.
std::string HelpText();

// The same for the manual page, and for completions in a shell.
ProgramText DescribeServer();

}  // namespace attend

#endif  // ATTEND_SERVER_APP_OPTIONS_H_
