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

// Of one rendering, its template and its variables included.
inline constexpr size_t kRenderMemory = 64 << 20;
inline constexpr absl::Duration kRenderTime = absl::Seconds(2);  // of a CPU

// What a chat template is rendered from; see hf_chat_render().
struct RenderJob {
  absl::string_view source;     // of the template
  absl::string_view variables;  // a json object; empty: only compile it
  int64_t unix_micros = 0;
};

// Processes that render chat templates. A template is a program: only the
// system can bound its memory and end it at any time, and only a process can
// die of that alone.
//
// A process of one thread, which has no model's memory, starts the others and
// starts them anew. They end with this process. Thread-safe.
class RenderProcesses {
 public:
  // Those of this process, from the first call on, which must come before the
  // process has much memory: they keep what it has then. Never null.
  static RenderProcesses& Shared();

  // The text. INVALID_ARGUMENT: what the template says or cannot do, or the
  // limit that it passes. CANCELLED once `ended`, which is asked every few
  // milliseconds. UNAVAILABLE if the system gave no process.
  absl::StatusOr<std::string> Render(const RenderJob& job,
                                     absl::FunctionRef<bool()> ended) const;

 private:
  RenderProcesses();

  int control_ = -1;  // the socket that they take jobs from; -1: there are none
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESSES_H_
