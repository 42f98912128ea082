#ifndef ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESS_H_
#define ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESS_H_

#include <cstdint>

namespace attend {

// The side of RenderProcesses that is in processes of its own, and what the two
// sides say to each other. A job is a socket, which a process takes from the
// control socket: it reads a header, the template and the variables from it,
// and writes a text, and then one byte that says what the text is.
struct RenderHeader {
  uint64_t source_bytes;
  uint64_t variables_bytes;
  int64_t unix_micros;
};
inline constexpr char kRendered = 'r';
inline constexpr char kFailed = 'f';  // the text is an error

// Hands `socket` over to who reads `control`. False: errno says why not.
bool SendSocket(int control, int socket);

// Of the process that was forked for it: starts others that render, and more
// for those that die, until the other end of `control` is closed.
[[noreturn]] void RunRenderProcesses(int control);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_CHAT_RENDER_PROCESS_H_
