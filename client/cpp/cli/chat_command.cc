#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/generation_options.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/lib/client.h"

namespace attend {
namespace {

struct ChatOptions {
  ConnectionOptions connection;
  v1::GenerateRequest request;  // without model and inputs
  std::string system;           // a message before the others; empty: none
  std::string variables;        // Chat.variables_json
};

// Ctrl-C ends the answer that is coming. If no answer is coming, Ctrl-C ends
// the process. Only one object exists, and it is made before any other thread:
// all threads inherit the blocked signal.
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

  // From now on Ctrl-C calls answer->Cancel(); if `answer` is null, Ctrl-C ends
  // the process.
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

  // Sends a line and prints the answer while it comes. The line and the answer
  // are added to the conversation; if Ctrl-C ended the answer, what was printed
  // is added. A turn that fails is not added.
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
          if (chunk.has_status()) input_status = ToAbslStatus(chunk.status());
          return printed_ = Print(chunk.text());
        },
        &cancellation);
    interrupts.Set(nullptr);
    printed_ = printed_ && Print("\n");
    if (status.ok()) status = input_status;
    if (!status.ok() && !absl::IsCancelled(status)) {
      chat().mutable_messages()->RemoveLast();
      return status;
    }
    Add("assistant", answer);
    return absl::OkStatus();
  }

  // Whether standard output has taken all of the answers.
  bool printed() const { return printed_; }

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
  bool printed_ = true;
};

int RunChat(const ChatOptions& options) {
  Interrupts interrupts;
  Conversation conversation(options);
  const bool asks = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  int exit_code = kExitOk;
  while (true) {
    if (asks && !Print("> ")) return kExitCallFailed;
    const auto line = NextLine(std::cin);
    if (!line.has_value()) break;
    if (line->empty()) continue;
    const absl::Status status = conversation.Turn(*line, interrupts);
    if (!conversation.printed()) return kExitCallFailed;
    if (status.ok()) continue;
    PrintError(status);
    exit_code = kExitCallFailed;
    if (IsShared(status.code())) break;
  }
  if (asks) Print("\n");
  return exit_code;
}

}  // namespace

Command AddChat(CLI::App& attend) {
  const auto options = std::make_shared<ChatOptions>();
  CLI::App& command = *attend.add_subcommand(
      "chat", "Talk to a model: each line is a turn, its answer streams");
  command.footer(
      "Ctrl-C ends the answer that is coming. At the prompt, Ctrl-C and the "
      "end "
      "of input\nend the program. Standard input may be a file or a pipe.\n"
      "A parameter that is not given has the model's default.");
  AddConnection(command, options->connection);
  command.add_option("--system", options->system,
                     "System message before the first turn");
  command.add_option(
      "--variables", options->variables,
      "Further variables of the model's chat template, as a JSON "
      "object: {\"enable_thinking\": false}");
  v1::GenerationParams* const params = options->request.mutable_params();
  AddLength(command, params);
  AddBeams(command, params);
  AddSampling(command, params);
  AddPenalties(command, params);
  AddContent(command, params);
  AddConstraint(command, params);
  AddScheduling(command, options->request);
  return {&command, [options] { return RunChat(*options); }};
}

}  // namespace attend
