#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESSES_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESSES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "engine/tensor/mutex.h"

namespace attend {

// Limits of one rendering: bytes of memory, template and variables included,
// and CPU time.
inline constexpr size_t kRenderMemory = 64 << 20;
inline constexpr absl::Duration kRenderTime = absl::Seconds(2);  // of a CPU

// One rendering of a chat template; see hf_chat_render().
struct RenderJob {
  absl::string_view source;     // of the template
  absl::string_view variables;  // a json object; empty: only compile it
  int64_t unix_micros = 0;
};

// Processes that render chat templates. A template is a program. Only the
// operating system can limit the memory of a program and end it at any time,
// and then the program must be in a process of its own.
//
// A process of one thread, which has no model's memory, starts the others and
// starts them anew. If it is killed, this process starts it anew, where its
// program can be one. They end with this process. Thread-safe.
class RenderProcesses {
 public:
  // The RenderProcesses of this process. The first call starts them. It must
  // come before the process has much memory, because the started processes keep
  // all memory that there is then.
  static RenderProcesses& Shared();

  // For the beginning of main(): does not return if the program was started to
  // be a process that renders. Without it, processes that were killed are not
  // started again.
  static void RunIfStartedForIt(int argc, char** argv);

  // The text. INVALID_ARGUMENT: what the template says or cannot do, or the
  // limit that it passes. CANCELLED once `ended`, which is asked every few
  // milliseconds. UNAVAILABLE if the system gave no process, or somebody killed
  // it.
  absl::StatusOr<std::string> Render(const RenderJob& job,
                                     absl::FunctionRef<bool()> ended);

 private:
  // The process that starts the others, and the socket that they take jobs
  // from; closing that ends them.
  struct Starter;

  RenderProcesses();
  // The one that runs; started anew if that is gone.
  absl::StatusOr<std::shared_ptr<const Starter>> Running();

  Mutex mutex_;
  std::shared_ptr<const Starter> starter_ ABSL_GUARDED_BY(mutex_);  // or null
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESSES_H_
