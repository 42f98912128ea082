#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESS_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESS_H_

#include <cstdint>

namespace attend {

// The code that runs inside the processes of RenderProcesses, and the protocol
// between both sides. A job is a socket. A process takes the socket from the
// control socket, and reads a header, the template and the variables from it.
// Then the process writes a text, followed by one byte that says what the text
// is.
struct RenderHeader {
  uint64_t source_bytes;
  uint64_t variables_bytes;
  int64_t unix_micros;
};
inline constexpr char kRendered = 'r';
inline constexpr char kFailed = 'f';    // the text is an error
inline constexpr char kNoMemory = 'm';  // it had no memory left; no text

// The main function of the process that is forked first. Starts processes that
// render, and replaces those that die, until the other end of `control` is
// closed.
[[noreturn]] void RunRenderProcesses(int control);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESS_H_
