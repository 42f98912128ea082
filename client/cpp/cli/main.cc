// The `attend` command line.

#include <csignal>
#include <variant>

#include "absl/synchronization/mutex.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/cli/options.h"

int main(int argc, char** argv) {
  // Whoever read our output has gone: end as other filters do, even where the
  // parent process ignores the signal.
  std::signal(SIGPIPE, SIG_DFL);
  // The distribution's Abseil looks for cycles of locks, at each lock of
  // gRPC's.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const auto parsed = attend::ParseCommandLine(argc, argv);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  return std::visit([](const auto& options) { return attend::Run(options); },
                    std::get<attend::Command>(parsed));
}
