#include "server/grpc/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "engine/tensor/check.h"
#include "engine/tensor/mutex.h"

namespace attend {
namespace {

// Lives as long as gRPC's threads.
struct Destination {
  Mutex mutex;
  Log* log ABSL_GUARDED_BY(mutex) = nullptr;
};
Destination& Shared() {
  static auto* const destination = new Destination;
  return *destination;
}

// Failed handshakes are errors to gRPC; they are none of this server.
LogLevel LevelOf(gpr_log_severity severity) {
  switch (severity) {
    case GPR_LOG_SEVERITY_DEBUG:
      return LogLevel::kDebug;
    case GPR_LOG_SEVERITY_INFO:
      return LogLevel::kInfo;
    case GPR_LOG_SEVERITY_ERROR:
      break;
  }
  return LogLevel::kWarning;
}

std::string PlaceOf(const gpr_log_func_args& said) {
  const absl::string_view file = said.file;
  const size_t slash = file.rfind('/');
  return absl::StrCat(slash == file.npos ? file : file.substr(slash + 1), ":",
                      said.line);
}

void Write(gpr_log_func_args* said) {
  const LogLevel level = LevelOf(said->severity);
  const std::string place = PlaceOf(*said);
  // The log does not wait for anybody, and must not go meanwhile.
  Destination& to = Shared();
  MutexLock lock(to.mutex);
  // The process ends before a thread could write it.
  if (absl::StartsWith(said->message, "assertion failed")) {
    const LogFormat format =
        to.log == nullptr ? LogFormat::kLogfmt : to.log->format();
    std::fputs(FormatLogLine(format, absl::Now(), LogLevel::kError, "grpc",
                             {{"message", said->message}, {"place", place}})
                   .c_str(),
               stderr);
    return;
  }
  if (to.log == nullptr) return;
  to.log->Write(level, "grpc", {{"message", said->message}, {"place", place}});
}

}  // namespace

GrpcLog::GrpcLog(Log& log) {
  Destination& to = Shared();
  MutexLock lock(to.mutex);
  ATTEND_CHECK(to.log == nullptr);
  to.log = &log;
  gpr_set_log_function(&Write);
}

GrpcLog::~GrpcLog() {
  Destination& to = Shared();
  MutexLock lock(to.mutex);
  to.log = nullptr;
  gpr_set_log_function(nullptr);
}

}  // namespace attend
