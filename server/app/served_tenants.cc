#include "server/app/served_tenants.h"

#include <utility>

#include "server/scheduler/clock.h"

namespace attend {

absl::StatusOr<std::unique_ptr<TenantFile>> OpenTenants(
    const ServerOptions& options, Metrics& metrics, Log& log) {
  if (options.tenants_file.empty()) return nullptr;
  TenantReferences references;
  for (const ModelSource& model : options.models) {
    references.models.push_back(model.name);
  }
  for (const ModelAlias& alias : options.aliases) {
    references.models.push_back(alias.name);
  }
  references.client_certificates = !options.tls.client_ca.empty();
  return TenantFile::Open(options.tenants_file, std::move(references), metrics,
                          log, SteadyNow());
}

}  // namespace attend
