#include "client/cpp/cli/errors.h"

#include <cstdio>
#include <string>

namespace attend {

bool IsShared(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable ||
         code == absl::StatusCode::kNotFound ||
         code == absl::StatusCode::kUnimplemented ||
         code == absl::StatusCode::kUnauthenticated ||
         code == absl::StatusCode::kPermissionDenied;
}

void PrintError(const absl::Status& status) {
  std::fprintf(stderr, "attend: %s: %s\n",
               absl::StatusCodeToString(status.code()).c_str(),
               std::string(status.message()).c_str());
}

void PrintError(const InputOptions& input, const Line& line,
                const absl::Status& status) {
  const char* const place = input.arguments.empty() ? "line" : "argument";
  std::fprintf(stderr, "attend: %s %lld: %s: %s\n", place,
               static_cast<long long>(line.number),
               absl::StatusCodeToString(status.code()).c_str(),
               std::string(status.message()).c_str());
}

}  // namespace attend
