#ifndef ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_PROCESS_H_
#define ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_PROCESS_H_

namespace attend {

// The code that runs inside the processes of Sandbox, and the protocol between
// both sides. A job is a socket. A process takes the socket from the control
// socket, and reads a SandboxHeader and what follows it. Then the process
// writes a text, followed by one byte that says what the text is.
inline constexpr char kDone = 'd';
inline constexpr char kFailed = 'f';    // the text is an error
inline constexpr char kNoMemory = 'm';  // it had no memory left; no text
inline constexpr char kTooLong = 't';   // it had no time left; no text

// The main function of the process that is forked first. Starts processes that
// do jobs, and replaces those that die, until the other end of `control` is
// closed.
[[noreturn]] void RunSandbox(int control);

}  // namespace attend

#endif  // ATTEND_ENGINE_TOKENIZER_SANDBOX_SANDBOX_PROCESS_H_
