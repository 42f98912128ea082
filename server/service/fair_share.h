#ifndef ATTEND_SERVER_SERVICE_FAIR_SHARE_H_
#define ATTEND_SERVER_SERVICE_FAIR_SHARE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/scheduler/request.h"

namespace attend {

// How calls are divided among tenants when there is no file of tenants.
enum class FairShare {
  kAddress,  // the host that a call comes from
  kNone,     // nothing: all calls are of one tenant
};

// "address" or "none".
absl::StatusOr<FairShare> ParseFairShare(absl::string_view name);
absl::string_view FairShareName(FairShare fair_share);

// The tenant of a call from `host`, an address without the port. Any form of
// the address will do, provided that each host always has the same form.
Tenant TenantOf(FairShare fair_share, absl::string_view host);

// The address itself, for people: "::1" of "ipv6:[::1]" and "ipv6:%5B::1%5D",
// as the ports have it.
std::string AddressOf(absl::string_view host);

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_FAIR_SHARE_H_
