#ifndef ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_H_
#define ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"
#include "engine/tokenizer/sandbox/sandbox_job.h"

namespace attend {

// Limits of one job: bytes of memory, what it was given included, and CPU time.
inline constexpr size_t kSandboxMemory = 64 << 20;
inline constexpr absl::Duration kSandboxTime = absl::Seconds(2);  // of a CPU
// And by the wall clock, waiting for a process included: enough for the CPU
// time where the process gets a tenth of a CPU.
inline constexpr absl::Duration kSandboxWait = absl::Seconds(30);

struct SandboxJob {
  SandboxTask task = SandboxTask::kRenderChat;
  absl::string_view source;  // of the template, or the grammar

  // kRenderChat, see hf_chat_render(). The result is the text.
  absl::string_view variables = "";  // a json object; empty: only compile it
  int64_t unix_micros = 0;

  // kTryGrammar, see hf_grammar_try(). The result is its number.
  HfGrammarKind grammar_kind = kHfJsonSchema;

  absl::Duration wait = kSandboxWait;
};

// Processes for work whose memory and time only the operating system can limit
// and end: a chat template is a program, and a grammar may be one, too.
//
// A process of one thread, which has no model's memory, starts the others and
// starts them anew. If it is killed, this process starts it anew, where its
// program can be one. They end with this process. Thread-safe.
//
// A process that is stopped (SIGSTOP) can neither work nor end itself. It is
// killed as soon as that is noticed, and replaced.
class Sandbox {
 public:
  // So many jobs are done at once.
  static constexpr int kProcesses = 2;

  // The Sandbox of this process. The first call starts them. It must
  // come before the process has much memory, because the started processes keep
  // all memory that there is then.
  static Sandbox& Shared();

  // For the beginning of main(): does not return if the program was started to
  // be a process that does jobs. Without it, processes that were killed are not
  // started again.
  static void RunIfStartedForIt(int argc, char** argv);

  // The result. INVALID_ARGUMENT: what is wrong with the job, or the limit that
  // it passes. CANCELLED once `ended`, which is asked every few
  // milliseconds. UNAVAILABLE if the system gave no process, if somebody killed
  // or stopped it, or if there is no result after job.wait; then all processes
  // are replaced.
  absl::StatusOr<std::string> Run(const SandboxJob& job,
                                  absl::FunctionRef<bool()> ended);

 private:
  // The process that starts the others, and the socket that they take jobs
  // from; closing that ends them.
  struct Starter;

  Sandbox();
  // The one that runs; started anew if that is gone.
  absl::StatusOr<std::shared_ptr<const Starter>> Running();
  // Forgets the one that runs if it is gone.
  void Look();
  // Kills `starter` and the processes that it has started, where others can
  // take their place.
  void Replace(const Starter& starter);

  Mutex mutex_;
  std::shared_ptr<const Starter> starter_ ABSL_GUARDED_BY(mutex_);  // or null
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_H_
