#ifndef ATTEND_SERVER_SERVICE_ADMINISTRATOR_H_
#define ATTEND_SERVER_SERVICE_ADMINISTRATOR_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/service/call_context.h"
#include "server/service/service.h"

namespace attend {

// PERMISSION_DENIED if there are tenants, and that of the call is no
// administrator.
inline absl::Status CheckAdministrator(const Service& service,
                                       const CallContext& context) {
  if (service.tenants == nullptr || context.account().administrator()) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("tenant '", context.account().name(),
                   "' is no administrator, and this call is for "
                   "administrators alone"));
}

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_ADMINISTRATOR_H_
