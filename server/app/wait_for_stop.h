#ifndef ATTEND_SERVER_APP_WAIT_FOR_STOP_H_
#define ATTEND_SERVER_APP_WAIT_FOR_STOP_H_

#include "absl/functional/function_ref.h"
#include "server/app/signals.h"
#include "server/observability/access_log.h"
#include "server/observability/log.h"
#include "server/tenants/tenant_file.h"
#include "server/tls/certificates.h"

namespace attend {

// The objects that SIGHUP reloads.
struct ReadAgain {
  TenantFile* tenants;         // null: there is none
  Certificates* certificates;  // likewise
  AccessLog& access_log;
};

// Returns when a signal requests the end. Until then, SIGHUP reloads tenants
// and certificates and reopens the file of the access log; tenants are also
// reloaded when their file changes. (Certificates watch their files
// themselves.) Calls `each_second` about once a second.
void WaitForStop(Signals& signals, const ReadAgain& read_again,
                 absl::FunctionRef<void()> each_second, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_WAIT_FOR_STOP_H_
