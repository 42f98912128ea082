#include "server/grpc/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Both live as long as gRPC's threads.
std::mutex& Mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
Log* destination = nullptr;  // guarded by Mutex()

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
  // The process ends before a thread could write it.
  if (absl::StartsWith(said->message, "assertion failed")) {
    std::fputs(FormatLogLine(absl::Now(), LogLevel::kError, "grpc",
                             {{"message", said->message}, {"place", place}})
                   .c_str(),
               stderr);
    return;
  }
  // The log does not wait for anybody, and must not go meanwhile.
  std::lock_guard lock(Mutex());
  if (destination == nullptr) return;
  destination->Write(level, "grpc",
                     {{"message", said->message}, {"place", place}});
}

}  // namespace

GrpcLog::GrpcLog(Log& log) {
  std::lock_guard lock(Mutex());
  ATTEND_CHECK(destination == nullptr);
  destination = &log;
  gpr_set_log_function(&Write);
}

GrpcLog::~GrpcLog() {
  std::lock_guard lock(Mutex());
  destination = nullptr;
  gpr_set_log_function(nullptr);
}

}  // namespace attend
