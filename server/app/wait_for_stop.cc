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
                 Certificates* certificates,
                 absl::FunctionRef<void()> each_second, Log& log) {
  absl::Time look = SteadyNow() + TenantFile::kPollInterval;
  while (true) {
    switch (signals.Wait(absl::Seconds(1))) {
      case SignalRequest::kStop:
        return;
      case SignalRequest::kReload:
        ReadAgain(tenants, certificates, log);
        break;
      case SignalRequest::kNothing:
        each_second();
        if (tenants == nullptr || SteadyNow() < look) break;
        tenants->ReloadIfChanged(SteadyNow());
        look = SteadyNow() + TenantFile::kPollInterval;
        break;
    }
  }
}

}  // namespace attend
