// A Sandbox that does its jobs in this process, without limits. libFuzzer sees
// what runs here only, has limits of its own, and need not wait for processes.
#include <string>

#include "engine/tokenizer/sandbox/sandbox.h"
#include "engine/tokenizer/sandbox/sandbox_job.h"

namespace attend {

struct Sandbox::Starter {};

Sandbox::Sandbox() = default;

Sandbox& Sandbox::Shared() {
  static auto& shared = *new Sandbox;
  return shared;
}

void Sandbox::RunIfStartedForIt(int /*argc*/, char** /*argv*/) {}

absl::StatusOr<std::string> Sandbox::Run(const SandboxJob& job,
                                         absl::FunctionRef<bool()> /*ended*/) {
  static auto& worker = *new SandboxWorker;
  ReceivedJob received = {.source = std::string(job.source),
                          .variables = std::string(job.variables)};
  received.header.task = job.task;
  received.header.grammar_kind = job.grammar_kind;
  received.header.unix_micros = job.unix_micros;
  RustCall<std::string> call;
  const MutexLock lock(mutex_);
  const bool good = worker.Do(received, call);
  return call.Take(good);
}

}  // namespace attend
