#include "server/app/open_doors.h"

#include "absl/strings/match.h"

namespace attend {

void WarnOfOpenDoors(const ServerOptions& options, Log& log) {
  if (!options.tenants_file.empty() && !options.tls.enabled()) {
    log.Write(LogLevel::kWarning, "plain_keys",
              {{"warning", "without --tls-cert keys travel as plain text"}});
  }
  if (!options.tenants_file.empty() && !options.http.tls) {
    log.Write(LogLevel::kWarning, "plain_keys",
              {{"warning",
                "without --http-tls the keys of calls over HTTP travel as "
                "plain text"}});
  }
  if (options.tls.requires_client() && !options.http.tls) {
    log.Write(LogLevel::kWarning, "closed_http",
              {{"warning",
                "calls over HTTP are refused: --tls-client-auth requires "
                "certificates, which take --http-tls"}});
  }
  if (!options.hub.token.empty() &&
      absl::StartsWith(options.hub.endpoint, "http:")) {
    log.Write(LogLevel::kWarning, "plain_keys",
              {{"warning",
                "HF_ENDPOINT is without TLS: HF_TOKEN travels as plain text"}});
  }
  if (options.CallsChangeModels() && options.tenants_file.empty()) {
    log.Write(LogLevel::kWarning, "open_model_control",
              {{"warning",
                "without --tenants every client may load and unload models"}});
  }
  if (!options.metrics_key_sha256.empty() && !options.http.tls) {
    log.Write(LogLevel::kWarning, "plain_keys",
              {{"warning",
                "without --http-tls the key of /metrics travels as plain "
                "text"}});
  }
  if (!options.health_key_sha256.empty() &&
      !(options.http.tls && options.tls.enabled())) {
    log.Write(LogLevel::kWarning, "plain_keys",
              {{"warning",
                "without --tls-cert and --http-tls the key of health travels "
                "as plain text"}});
  }
}

}  // namespace attend
