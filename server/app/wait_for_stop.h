#ifndef ATTEND_SERVER_APP_WAIT_FOR_STOP_H_
#define ATTEND_SERVER_APP_WAIT_FOR_STOP_H_

#include "absl/functional/function_ref.h"
#include "server/app/signals.h"
#include "server/observability/access_log.h"
#include "server/observability/log.h"
#include "server/tenants/tenant_file.h"
#include "server/tls/certificates.h"

namespace attend {

// What SIGHUP is about.
struct ReadAgain {
  TenantFile* tenants;         // null: there is none
  Certificates* certificates;  // likewise
  AccessLog& access_log;
};

// Returns when a signal asks for the end. Until then reads tenants and
// certificates again at SIGHUP, and opens the file of the access log anew;
// reads tenants also when their file changes. (Certificates look at their files
// themselves.) Calls `each_second` about once a second.
void WaitForStop(Signals& signals, const ReadAgain& read_again,
                 absl::FunctionRef<void()> each_second, Log& log);

}  // namespace attend

#endif  // ATTEND_SERVER_APP_WAIT_FOR_STOP_H_
