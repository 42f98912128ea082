#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESSES_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESSES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

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
// One process, which has a single thread and no memory of models, starts the
// processes that render, and replaces those that die. All of them end with the
// server's process. Thread-safe.
class RenderProcesses {
 public:
  // The RenderProcesses of this process. The first call starts them. It must
  // come before the process has much memory, because the started processes keep
  // all memory that there is then.
  static RenderProcesses& Shared();

  // Returns the rendered text. INVALID_ARGUMENT has the error that the template
  // raises, or names what it cannot do or the limit that it exceeds. CANCELLED
  // if ended() is true, which is asked every few milliseconds. UNAVAILABLE if
  // the system gave no process.
  absl::StatusOr<std::string> Render(const RenderJob& job,
                                     absl::FunctionRef<bool()> ended) const;

 private:
  RenderProcesses();

  int control_ = -1;  // the socket that they take jobs from; -1: there are none
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESSES_H_
