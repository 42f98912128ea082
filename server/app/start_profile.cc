#include "server/app/start_profile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "server/profile/profiler.h"

namespace attend {
namespace {

absl::Status WriteFile(const std::string& path, const std::string& text) {
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), "we");
  bool written = file != nullptr;
  if (written) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written = std::fclose(file) == 0 && written;
  }
  if (written) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("profile_file '", path, "': ", std::strerror(errno)));
}

void LogProfile(const std::string& path, const absl::Status& status,
                int64_t dropped, Log& log) {
  if (status.ok()) {
    log.Write(LogLevel::kInfo, "profile_written",
              {{"file", path}, {"dropped_events", dropped}});
  } else {
    log.Write(LogLevel::kError, "profile_failed",
              {{"error", status.message()}});
  }
}

}  // namespace

absl::Status ProfileOptions::Validate() const {
  return time == absl::ZeroDuration() ? absl::OkStatus()
                                      : Profiler::CheckTime(time);
}

void StartProfile(const ProfileOptions& options, Profiler& profiler, Log& log) {
  if (options.time == absl::ZeroDuration()) return;
  const auto done =
      [file = options.file,
       &log](const absl::StatusOr<std::shared_ptr<const Profile>>& profile) {
        absl::Status status = profile.status();
        if (status.ok()) status = WriteFile(file, (*profile)->trace);
        LogProfile(file, status, profile.ok() ? (*profile)->dropped : 0, log);
      };
  // An empty file at first: what cannot be written is told of at once.
  absl::Status started = WriteFile(options.file, "");
  if (started.ok()) {
    started = profiler.Start(options.time, "--profile", done).status();
  }
  if (!started.ok()) LogProfile(options.file, started, 0, log);
}

}  // namespace attend
