#include "server/app/wait_for_stop.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

// Reads again everything that a SIGHUP is about.
void ReadAgain(TenantFile* tenants, Certificates* certificates, Log& log) {
  std::vector<absl::string_view> read_again;
  if (tenants != nullptr) read_again.push_back("tenants");
  if (certificates != nullptr) read_again.push_back("tls");
  if (read_again.empty()) read_again.push_back("nothing");
  log.Write(
      LogLevel::kInfo, "reload",
      {{"signal", "SIGHUP"}, {"read_again", absl::StrJoin(read_again, ",")}});
  if (tenants != nullptr) tenants->Reload(SteadyNow());
  if (certificates != nullptr) certificates->LookNow();
}

}  // namespace

void WaitForStop(Signals& signals, TenantFile* tenants,
                 Certificates* certificates, Log& log) {
  // Without tenants there is no file to look at.
  const absl::Duration pause =
      tenants == nullptr ? absl::Hours(1) : TenantFile::kPollInterval;
  while (true) {
    switch (signals.Wait(pause)) {
      case SignalRequest::kStop:
        return;
      case SignalRequest::kReload:
        ReadAgain(tenants, certificates, log);
        break;
      case SignalRequest::kNothing:
        if (tenants != nullptr) tenants->ReloadIfChanged(SteadyNow());
        break;
    }
  }
}

}  // namespace attend
