#include "client/cpp/cli/bench_report.h"

#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/progress.h"
#include "client/cpp/load/server_version.h"

namespace attend {
namespace {

// "Not known" where a proxy, or a server of another time, does not say.
std::string VersionOfServer(const ConnectionOptions& connection) {
  const auto version = ServerVersion(ToClientOptions(connection));
  return version.ok() ? *version
                      : absl::StrCat("not known: ", version.status().message());
}

std::string Described(const v1::Model& model) {
  return absl::StrCat(model.name(), " (version ", model.version(), ", ",
                      model.family(), ", ", model.dtype(), ")");
}

}  // namespace

ReportFacts BenchFacts(const BenchOptions& options, const v1::Model& model) {
  return {{"command", options.command},
          {"client", options.version},
          {"server", VersionOfServer(options.connection)},
          {"address", options.connection.address},
          {"model", Described(model)},
          {"began", absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::Now(),
                                     absl::UTCTimeZone())}};
}

std::function<void(int64_t ended)> BenchProgress(int64_t total) {
  if (isatty(STDERR_FILENO) == 0) return nullptr;
  const auto progress = std::make_shared<Progress>(total);
  const auto shown = std::make_shared<absl::Time>(absl::InfinitePast());
  return [=](int64_t ended) {
    const absl::Time now = absl::Now();
    if (ended < total && now - *shown < absl::Milliseconds(100)) return;
    *shown = now;
    progress->Show(ended);
    if (ended == total) progress->Clear();
  };
}

}  // namespace attend
