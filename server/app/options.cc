#include "server/app/options.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"
#include "server/app/alias_options.h"
#include "server/app/option_list.h"
#include "server/app/option_parser.h"
#include "server/budget/request_budget.h"
#include "server/tenants/key_hash.h"
#include "server/tracing/tracing_options.h"

namespace attend {

namespace {

constexpr char kServerHelp[] = "serves transformer models over gRPC";

absl::Status ValidateModelControl(const ServerOptions& o) {
  if (o.model_control == ModelControlMode::kPoll &&
      o.model_options.models_dir.empty()) {
    return absl::InvalidArgumentError(
        "model_control is poll, needs models_dir");
  }
  if (o.model_poll_interval < absl::Milliseconds(10) ||
      o.model_poll_interval > absl::Hours(24)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model_poll_interval is ", absl::FormatDuration(o.model_poll_interval),
        ", must be in [10ms, 24h]"));
  }
  if (o.idle_unload && !o.CallsChangeModels()) {
    return absl::InvalidArgumentError(
        "idle_unload is true, needs model_control explicit: nobody else could "
        "load again what it unloads");
  }
  return absl::OkStatus();
}

// The error does not show the value, which may be the key itself.
absl::Status CheckKeyHash(absl::string_view option, const std::string& hash) {
  if (hash.empty() || ParseKeyHash(hash)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option, " has ", hash.size(),
      " bytes, must be 64 hexadecimal digits: the SHA-256 of a key"));
}

// A flag, and a line of the file, may have several values, too.
void SplitAtCommas(std::vector<std::string>& values) {
  const std::string all = absl::StrJoin(values, ",");
  values = absl::StrSplit(all, ',', absl::SkipEmpty());
}

// Models need not be found: those of a hub may still be fetched.
absl::Status ValidateHealthCheck(const HttpOptions& http) {
  RETURN_IF_ERROR(http.Validate());
  if (http.port != 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "http_port is 0, must be the server's for --health-check");
}

}  // namespace

absl::Status ServerOptions::Validate() const {
  ATTEND_CHECK(!models.empty());
  if (compute.threads < 0 || compute.threads > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", compute.threads, ", must be in [0, 1024]"));
  }
  for (absl::Duration duration : {drain_delay, drain_timeout}) {
    if (duration < absl::ZeroDuration() || duration > absl::Hours(24)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "drain_delay or drain_timeout is ", absl::FormatDuration(duration),
          ", must be in [0, 24h]"));
    }
  }
  RETURN_IF_ERROR(ValidateModelControl(*this));
  RETURN_IF_ERROR(CheckKeyHash("metrics_key_sha256", metrics_key_sha256));
  RETURN_IF_ERROR(CheckKeyHash("health_key_sha256", health_key_sha256));
  if (!otlp_endpoint.empty()) {
    RETURN_IF_ERROR(ParseOtlpEndpoint(otlp_endpoint).status());
  }
  RETURN_IF_ERROR(profile.Validate());
  RETURN_IF_ERROR(engine.Validate());
  RETURN_IF_ERROR(scheduler.Validate());
  RETURN_IF_ERROR(http.Validate());
  RETURN_IF_ERROR(tls.Validate());
  if (http.tls && !tls.enabled()) {
    return absl::InvalidArgumentError(
        "http_tls is true, needs tls_cert and tls_key");
  }
  return rpc.Validate();
}

EngineOptions ServerOptions::EngineOf(const ModelSource& source) const {
  EngineOptions options = engine;
  options.shortlist.path = source.shortlist;
  options.adapter = source.adapter;
  return options;
}

size_t ServerOptions::MaxRequestBytes() const {
  return std::max(kMaxRequestBytes,
                  4 * static_cast<size_t>(rpc.max_message_bytes));
}

absl::StatusOr<CommandLine> ParseCommandLine(
    const std::vector<std::string>& arguments) {
  CommandLine line;
  ServerOptions& options = line.options;
  OptionParser parser;
  AddOptions(parser, options);
  AddFlags(parser, line);
  RETURN_IF_ERROR(parser.Parse(arguments));
  line.warnings = parser.warnings();
  // Engine and batcher have one budget: the batcher may plan as many rows as
  // the engine takes. All beams of an input go into one step, even above the
  // budget.
  options.engine.max_step_rows =
      std::max(options.scheduler.max_batch_tokens, options.engine.max_beams);
  // Limits for clients of one port also apply to the other.
  options.http.max_body_bytes = options.rpc.max_message_bytes;
  options.http.answer_timeout = options.rpc.slow_reader_timeout;
  options.http.needs_keys = !options.tenants_file.empty();
  SplitAtCommas(options.http.cors_origins);
  SplitAtCommas(options.http.allowed_hosts);
  if (line.checks()) RETURN_IF_ERROR(ValidateHealthCheck(options.http));
  if (!line.serves()) return line;
  ASSIGN_OR_RETURN(options.models, FindModels(options.model_options));
  if (!options.model_options.hub.empty()) {
    RETURN_IF_ERROR(ReadHubVariables(
        [](const char* name) { return std::getenv(name); }, options.hub));
  }
  ASSIGN_OR_RETURN(options.aliases,
                   FindAliases(options.model_options, options.models));
  RETURN_IF_ERROR(options.Validate());
  return line;
}

std::string HelpText() {
  CommandLine line;
  OptionParser parser;
  AddOptions(parser, line.options);
  AddFlags(parser, line);
  return absl::StrCat("attend-server: ", kServerHelp, ".\n\n", parser.Help());
}

ProgramText DescribeServer() {
  CommandLine line;
  OptionParser parser;
  AddOptions(parser, line.options);
  AddFlags(parser, line);
  return {.name = "attend-server",
          .version = ATTEND_VERSION,
          .help = kServerHelp,
          .description = OptionParser::kHowGiven,
          .options = parser.Describe()};
}

}  // namespace attend
