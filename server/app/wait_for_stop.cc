#include "server/app/wait_for_stop.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

void Reload(const ReadAgain& what, Log& log) {
  std::vector<absl::string_view> names;
  if (what.tenants != nullptr) names.push_back("tenants");
  if (what.certificates != nullptr) names.push_back("tls");
  if (what.access_log.has_file()) names.push_back("access_log");
  if (names.empty()) names.push_back("nothing");
  log.Write(LogLevel::kInfo, "reload",
            {{"signal", "SIGHUP"}, {"read_again", absl::StrJoin(names, ",")}});
  const absl::Status opened = what.access_log.Reopen();
  if (!opened.ok()) {
    log.Write(LogLevel::kError, "access_log", {{"error", opened.message()}});
  }
  if (what.tenants != nullptr) what.tenants->Reload(SteadyNow());
  if (what.certificates != nullptr) what.certificates->LookNow();
}

}  // namespace

void WaitForStop(Signals& signals, const ReadAgain& read_again,
                 absl::FunctionRef<void()> each_second, Log& log) {
  TenantFile* const tenants = read_again.tenants;
  absl::Time look = SteadyNow() + TenantFile::kPollInterval;
  while (true) {
    switch (signals.Wait(absl::Seconds(1))) {
      case SignalRequest::kStop:
        return;
      case SignalRequest::kReload:
        Reload(read_again, log);
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
