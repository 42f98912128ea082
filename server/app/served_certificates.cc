#include "server/app/served_certificates.h"

#include <string>

#include "absl/time/time.h"

namespace attend {

absl::StatusOr<std::unique_ptr<Certificates>> LoadCertificates(
    const TlsOptions& options, Metrics& metrics, Log& log) {
  if (!options.enabled()) return nullptr;
  const auto on_served = [&metrics, &log,
                          path = options.cert](const TlsFiles& files) {
    metrics.SetCertificateEnd(files.end);
    log.Write(LogLevel::kInfo, "tls",
              {{"serves", path},
               {"ends", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", files.end,
                                         absl::UTCTimeZone())}});
    for (const std::string& warning : files.warnings) {
      log.Write(LogLevel::kWarning, "tls", {{"warning", warning}});
    }
  };
  const auto on_refused = [&log](const absl::Status& status) {
    log.Write(LogLevel::kError, "tls",
              {{"refused", status.message()},
               {"serves", "the certificates it had before"}});
  };
  return Certificates::Load(options,
                            {.on_served = on_served, .on_refused = on_refused});
}

}  // namespace attend
