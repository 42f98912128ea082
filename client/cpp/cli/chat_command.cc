#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "client/cpp/cli/command_inputs.h"
#include "client/cpp/cli/commands.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

// Turns Ctrl-C into the end of the answer that comes; without one it ends the
// process. There is one, made before any other thread.
class Interrupts {
 public:
  Interrupts() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    waiting_ = std::thread([this] { Wait(); });
  }
  ~Interrupts() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ended_ = true;
    }
    pthread_kill(waiting_.native_handle(), SIGINT);
    waiting_.join();
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // What Ctrl-C cancels from now on; null: the process.
  void Set(Cancellation* answer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    answer_ = answer;
  }

 private:
  void Wait() {
    constexpr int kInterrupted = 128 + SIGINT;  // as a shell has it
    for (int signal = 0;;) {
      sigwait(&signals_, &signal);
      const std::lock_guard<std::mutex> lock(mutex_);
      if (ended_) return;
      if (answer_ == nullptr) std::_Exit(kInterrupted);
      answer_->Cancel();
    }
  }

  sigset_t signals_;
  std::mutex mutex_;
  Cancellation* answer_ = nullptr;
  bool ended_ = false;
  std::thread waiting_;
};

class Conversation {
 public:
  explicit Conversation(const ChatOptions& options)
      : client_(ToClientOptions(options.connection)),
        request_(options.request) {
    request_.set_model(options.connection.model);
    chat().set_variables_json(options.variables);
    if (!options.system.empty()) Add("system", options.system);
  }

  // Prints the answer to a line while it comes. A turn that fails leaves no
  // trace; of an answer that is interrupted stays what was printed.
  absl::Status Turn(const std::string& line, Interrupts& interrupts) {
    Add("user", line);
    std::string answer;
    absl::Status input_status;
    Cancellation cancellation;
    interrupts.Set(&cancellation);
    absl::Status status = client_.GenerateStream(
        request_,
        [&](const v1::GenerateChunk& chunk) {
          answer += chunk.text();
          std::fwrite(chunk.text().data(), 1, chunk.text().size(), stdout);
          if (chunk.has_status()) input_status = ToAbslStatus(chunk.status());
          return std::fflush(stdout) == 0;
        },
        &cancellation);
    interrupts.Set(nullptr);
    std::fputs("\n", stdout);
    if (status.ok()) status = input_status;
    if (!status.ok() && !absl::IsCancelled(status)) {
      chat().mutable_messages()->RemoveLast();
      return status;
    }
    Add("assistant", answer);
    return absl::OkStatus();
  }

 private:
  v1::Chat& chat() {
    if (request_.inputs().empty()) request_.add_inputs();
    return *request_.mutable_inputs(0)->mutable_chat();
  }
  void Add(const std::string& role, const std::string& content) {
    v1::ChatMessage& message = *chat().add_messages();
    message.set_role(role);
    message.set_content(content);
  }

  Client client_;
  v1::GenerateRequest request_;  // with all turns so far
};

}  // namespace

int Run(const ChatOptions& options) {
  Interrupts interrupts;
  Conversation conversation(options);
  const bool asks = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  int exit_code = kExitOk;
  while (true) {
    if (asks) std::fputs("> ", stdout);
    if (std::fflush(stdout) != 0) return kExitCallFailed;
    const auto line = NextLine(std::cin);
    if (!line.has_value()) break;
    if (line->empty()) continue;
    const absl::Status status = conversation.Turn(*line, interrupts);
    if (status.ok()) continue;
    PrintError(status);
    exit_code = kExitCallFailed;
    if (IsShared(status.code())) break;
  }
  if (asks) std::fputs("\n", stdout);
  return exit_code;
}

}  // namespace attend
