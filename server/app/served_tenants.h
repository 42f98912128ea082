#ifndef ATTEND_SERVER_APP_SERVED_TENANTS_H_
#define ATTEND_SERVER_APP_SERVED_TENANTS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "server/app/options.h"
#include "server/observability/log.h"
#include "server/observability/metrics.h"
#include "server/tenants/tenant_file.h"

namespace attend {

// The file of tenants that the options name; null if they name none. An error
// names the file and what is wrong with it. The others must outlive it.
absl::StatusOr<std::unique_ptr<TenantFile>> OpenTenants(
    const ServerOptions& options, Metrics& metrics, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_SERVED_TENANTS_H_
