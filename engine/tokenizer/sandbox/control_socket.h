#ifndef ATTEND_ENGINE_TOKENIZER_SANDBOX_CONTROL_SOCKET_H_
#define ATTEND_ENGINE_TOKENIZER_SANDBOX_CONTROL_SOCKET_H_

namespace attend {

// Hands `socket` over to who reads `control`, without waiting. False: errno
// says why not; EAGAIN if too many wait to be received.
bool SendSocket(int control, int socket);

// Waits for one that was handed over, and owns it. -1 once the other end of
// `control` is closed.
int ReceiveSocket(int control);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SANDBOX_CONTROL_SOCKET_H_
