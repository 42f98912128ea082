#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cpp/cli/command.h"
#include "client/cpp/cli/common_options.h"
#include "client/cpp/cli/errors.h"
#include "client/cpp/cli/generation_options.h"
#include "client/cpp/cli/input_lines.h"
#include "client/cpp/cli/line_editor.h"
#include "client/cpp/cli/messages.h"
#include "client/cpp/cli/output.h"
#include "client/cpp/lib/client.h"
#include "command_line/did_you_mean.h"

namespace attend {
namespace {

struct ChatOptions {
  ConnectionOptions connection;
  v1::GenerateRequest request;  // without model and inputs
  std::string system;           // a message before the others; empty: none
  std::string variables;        // Chat.variables_json
  std::string history = DefaultHistoryFile();
};

// Ctrl-C ends the answer that is coming. If no answer is coming, Ctrl-C ends
// the process, and the terminal is again as it was. Only one object exists, and
// it is made before any other thread: all threads inherit the blocked signal.
class Interrupts {
 public:
  Interrupts() : on_terminal_(tcgetattr(STDIN_FILENO, &terminal_) == 0) {
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
      if (answer_ == nullptr) {
        if (on_terminal_) tcsetattr(STDIN_FILENO, TCSANOW, &terminal_);
        std::_Exit(kInterrupted);
      }
      answer_->Cancel();
    }
  }

  termios terminal_;
  const bool on_terminal_;
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
    SetSystem(options.system);
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

  // FAILED_PRECONDITION if the model does not chat.
  absl::Status Check() {
    const absl::StatusOr<v1::Model> model = client_.GetModel(request_.model());
    if (!model.ok()) return model.status();
    if (model->chats()) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("model \"", model->name(),
                     "\" does not chat: it has no chat template; attend "
                     "generate writes what follows a text"));
  }

  // Forgets all turns, but not the system message.
  void Reset() {
    auto& messages = *chat().mutable_messages();
    messages.erase(messages.begin() + (HasSystem() ? 1 : 0), messages.end());
  }

  // From now on this is the system message. Empty: there is none.
  void SetSystem(const std::string& text) {
    auto& messages = *chat().mutable_messages();
    if (HasSystem()) messages.erase(messages.begin());
    if (text.empty()) return;
    Add("system", text);
    std::rotate(messages.begin(), std::prev(messages.end()), messages.end());
  }

  // Writes the conversation to a file, as JSON.
  absl::Status Save(const std::string& file) {
    std::ofstream stream(file);
    stream << ToJsonLine(chat()) << std::flush;
    if (stream.good()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("'", file, "': cannot be written"));
  }

  // Whether standard output has taken all of the answers.
  bool printed() const { return printed_; }

 private:
  v1::Chat& chat() {
    if (request_.inputs().empty()) request_.add_inputs();
    return *request_.mutable_inputs(0)->mutable_chat();
  }
  bool HasSystem() {
    return !chat().messages().empty() && chat().messages(0).role() == "system";
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

constexpr char kOrders[] =
    "/system TEXT  the system message from now on; without TEXT: none\n"
    "/reset        forget all turns\n"
    "/save FILE    write the conversation to FILE, as JSON\n"
    "/help         show these lines\n"
    "//TEXT        a turn that begins with a slash\n";

// Does what a line says that begins with a slash.
absl::Status Obey(const std::string& line, Conversation& conversation) {
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  const auto& [order, rest] = parts;
  if (order == "/help") {
    Print(kOrders);
  } else if (order == "/reset") {
    conversation.Reset();
  } else if (order == "/system") {
    conversation.SetSystem(rest);
  } else if (order == "/save") {
    return conversation.Save(rest);
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown: '", order, "'",
                     DidYouMean(order, {"/help", "/reset", "/system", "/save"}),
                     "; /help shows what there is"));
  }
  return absl::OkStatus();
}

// Whether a line of a terminal was no turn. Takes the slash away that turns
// begin with.
bool TakeOrder(std::string& line, Conversation& conversation) {
  if (!absl::StartsWith(line, "/")) return false;
  if (absl::StartsWith(line, "//")) {
    line.erase(0, 1);
    return false;
  }
  if (const absl::Status status = Obey(line, conversation); !status.ok()) {
    PrintError(status);
  }
  return true;
}

int RunChat(const ChatOptions& options) {
  Interrupts interrupts;
  Conversation conversation(options);
  const bool asks = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  if (asks) {
    if (const absl::Status status = conversation.Check(); !status.ok()) {
      PrintError(status);
      return kExitCallFailed;
    }
  }
  std::optional<LineEditor> editor;
  if (asks) editor.emplace(options.history);
  int exit_code = kExitOk;
  while (true) {
    auto line = editor ? editor->Next() : NextLine(std::cin);
    if (!line.has_value()) break;
    if (line->empty()) continue;
    if (asks && TakeOrder(*line, conversation)) continue;
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
      "chat",
      "Chat with a model: each line is a turn, and its answer is streamed");
  command.footer(
      "Ctrl-C ends the current answer. At the prompt, Ctrl-C and the end of "
      "input\nend the program. Standard input may be a file or a pipe.\nOn a "
      "terminal /help lists the commands /system, /reset and "
      "/save.\nParameters default to those of the model.");
  AddConnection(command, options->connection);
  command.add_option("--system", options->system,
                     "System message before the first turn");
  command.add_option(
      "--variables", options->variables,
      "Further variables of the model's chat template, as a JSON "
      "object: {\"enable_thinking\": false}");
  command.add_option(
      "--history", options->history,
      "On a terminal: history file of typed lines; '': none. Default: "
      "attend/chat_history in $XDG_STATE_HOME or ~/.local/state");
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
