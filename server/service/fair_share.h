#ifndef ATTEND_SERVER_SERVICE_FAIR_SHARE_H_
#define ATTEND_SERVER_SERVICE_FAIR_SHARE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/scheduler/request.h"

namespace attend {

// What tells tenants apart.
enum class FairShare {
  kAddress,  // the host that a call comes from
  kNone,     // nothing: all calls are of one tenant
};

// "address" or "none".
absl::StatusOr<FairShare> ParseFairShare(absl::string_view name);
absl::string_view FairShareName(FairShare fair_share);

// The tenant of a call from `host`: an address without the port, in any form
// that is always the same.
Tenant TenantOf(FairShare fair_share, absl::string_view host);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_FAIR_SHARE_H_
