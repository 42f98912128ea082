#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/cli/report_file.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct ProfileOptions {
  ConnectionOptions connection;
  absl::Duration duration = absl::Seconds(5);
  std::string output = "attend-profile.json";
};

bool IsSpecial(const std::string& path) {
  struct stat found;
  return lstat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
}

absl::Status Record(const ProfileOptions& options) {
  auto file = ReportFile::Open(options.output);
  if (!file.ok()) return file.status();
  Client client(ToClientOptions(options.connection));
  std::string trace;
  const absl::Status called =
      client.Profile(options.duration, [&trace](absl::string_view piece) {
        absl::StrAppend(&trace, piece);
        return true;
      });
  return called.ok() ? file->Write(trace) : called;
}

int RunProfile(const ProfileOptions& options) {
  const absl::Status recorded = Record(options);
  if (!recorded.ok()) {
    PrintError(recorded);
    return kExitCallFailed;
  }
  // Its name would come behind the trace.
  if (IsSpecial(options.output)) return kExitOk;
  return Print(options.output + "\n") ? kExitOk : kExitCallFailed;
}

}  // namespace

Command AddProfile(CLI::App& attend) {
  const auto options = std::make_shared<ProfileOptions>();
  CLI::App& command = *attend.add_subcommand(
      "profile",
      "Record what the server's threads compute, for ui.perfetto.dev");
  AddTime(command, "--duration",
          "Duration of the recording, at most 60s (default: 5s)",
          options->duration);
  command
      .add_option("-o,--output", options->output,
                  "Output file; it is replaced once the trace is complete")
      ->capture_default_str();
  AddConnection(command, options->connection);
  return {&command, [options] { return RunProfile(*options); }};
}

}  // namespace attend
