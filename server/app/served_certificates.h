#ifndef ATTEND_SERVER_APP_SERVED_CERTIFICATES_H_
#define ATTEND_SERVER_APP_SERVED_CERTIFICATES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/observability/log.h"
#include "server/observability/metrics.h"
#include "server/tls/certificates.h"

namespace attend {

// Loads the certificates that the options name; null if TLS is off. Writes to
// the log and to the metrics when the certificates are loaded, and whenever
// their files change. `metrics` and `log` must outlive the certificates.
absl::StatusOr<std::unique_ptr<Certificates>> LoadCertificates(
    const TlsOptions& options, Metrics& metrics, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SERVED_CERTIFICATES_H_
