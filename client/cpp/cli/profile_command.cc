#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/output.h"
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

// A file that takes the place of another once it is whole. What is no ordinary
// file, like /dev/stdout, is written itself.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path)
      : path_(path),
        part_(IsSpecial(path) ? path : path + ".part"),
        file_(Open(part_)) {}
  ~TraceFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    if (part_ != path_) std::remove(part_.c_str());
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  bool open() const { return file_ != nullptr; }
  bool Write(absl::string_view text) {
    errno = 0;
    return std::fwrite(text.data(), 1, text.size(), file_) == text.size();
  }
  // The file is whole.
  bool Finish() {
    errno = 0;
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (part_ == path_) return closed;
    if (closed && std::rename(part_.c_str(), path_.c_str()) == 0) return true;
    const int reason = errno;
    std::remove(part_.c_str());
    errno = reason;
    return false;
  }
  // Why the last function failed.
  absl::Status Error() const {
    return absl::UnavailableError(
        absl::StrCat(path_, ": cannot write: ", std::strerror(errno)));
  }

 private:
  static std::FILE* Open(const std::string& path) {
    errno = 0;
    return std::fopen(path.c_str(), "we");
  }

  const std::string path_;
  const std::string part_;  // path_, until it is whole
  std::FILE* file_;         // null: not open
};

absl::Status Record(const ProfileOptions& options) {
  TraceFile file(options.output);
  if (!file.open()) return file.Error();
  Client client(ToClientOptions(options.connection));
  absl::Status written;
  const absl::Status called =
      client.Profile(options.duration, [&](absl::string_view piece) {
        if (!file.Write(piece)) written = file.Error();
        return written.ok();
      });
  if (!written.ok()) return written;
  if (!called.ok()) return called;
  return file.Finish() ? absl::OkStatus() : file.Error();
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
          "How long to record: at most 60s (default: 5s)", options->duration);
  command
      .add_option("-o,--output", options->output,
                  "The file to write; it is there once it is whole")
      ->capture_default_str();
  AddConnection(command, options->connection);
  return {&command, [options] { return RunProfile(*options); }};
}

}  // namespace attend
