// `attend chat`, run as its users run it, against a fake server.

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <pty.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/client/cli/command_line.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ChatTest : public CommandLineTest {
 protected:
  // "role: content" of each message of the last request.
  std::vector<std::string> Messages() {
    std::vector<std::string> messages;
    const v1::GenerateRequest request = service_.last_generate();
    for (const v1::ChatMessage& message : request.inputs(0).chat().messages()) {
      messages.push_back(message.role() + ": " + message.content());
    }
    return messages;
  }
};

TEST_F(ChatTest, EachLineIsATurnOfOneConversation) {
  const Outcome outcome = Run("chat --system 'Be good.'", "one two\n\nthree\n");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ONE TWO \nTHREE \n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(Messages(), ElementsAre("system: Be good.", "user: one two",
                                      "assistant: ONE TWO ", "user: three"));
}

TEST_F(ChatTest, SendsParameters) {
  const Outcome outcome =
      Run("chat -m small --variables '{\"a\": 1}' --max-new-tokens 9 --sample "
          "--seed 3 --stop x --priority 2",
          "hi");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  v1::GenerateRequest expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(model: "small"
         inputs { chat { messages { role: "user" content: "hi" }
                         variables_json: "{\"a\": 1}" } }
         params { max_new_tokens: 9 do_sample: true seed: 3 stop_strings: "x" }
         priority: 2)",
      &expected));
  EXPECT_EQ(service_.last_generate().DebugString(), expected.DebugString());
}

TEST_F(ChatTest, ATurnThatFailsLeavesNoTrace) {
  const Outcome outcome = Run("chat", "a\nbad b\n\xff\nc\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "A \n\n\nC \n");
  EXPECT_EQ(outcome.err,
            "attend: INVALID_ARGUMENT: text is bad\n"
            "attend: INVALID_ARGUMENT: inputs[0].chat.messages[2].content: not "
            "valid UTF-8\n");
  EXPECT_THAT(Messages(), ElementsAre("user: a", "assistant: A ", "user: c"));
}

TEST_F(ChatTest, EndsWhereNoTurnCanSucceed) {
  service_.Fail({{.status = absl::NotFoundError("no such model")}});
  const Outcome outcome = Run("chat", "a\nb\n");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(service_.calls(), 1);
  EXPECT_THAT(outcome.err, HasSubstr("NOT_FOUND: no such model"));
}

TEST_F(ChatTest, NothingToSay) {
  const Outcome outcome = Run("chat");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(service_.calls(), 0);
}

// The binary with a terminal of its own.
class OnTerminal {
 public:
  OnTerminal(const std::string& address, const std::string& state,
             const char* model = "capitals") {
    process_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (process_ == 0) {
      setenv("ATTEND_ADDRESS", address.c_str(), 1);
      setenv("XDG_STATE_HOME", state.c_str(), 1);
      setenv("TERM", "dumb", 1);
      setenv("LC_ALL", "C", 1);  // as in a container
      execl(ATTEND_BINARY, ATTEND_BINARY, "chat", "-m", model, nullptr);
      _exit(127);
    }
  }
  ~OnTerminal() { close(terminal_); }

  void Type(const std::string& text) {
    ASSERT_EQ(write(terminal_, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  // Reads until what was shown ends with `end`.
  void Await(const std::string& end) {
    char c;
    while (!shown_.ends_with(end) && read(terminal_, &c, 1) == 1) shown_ += c;
    EXPECT_THAT(shown_, EndsWith(end));
  }
  const std::string& shown() const { return shown_; }
  int ExitCode() {
    char c;
    while (read(terminal_, &c, 1) == 1) shown_ += c;
    int status = 0;
    waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  int terminal_ = -1;
  pid_t process_ = -1;
  std::string shown_;
};

constexpr char kInterrupt[] = "\x03";
constexpr char kEndOfInput[] = "\x04";

TEST_F(ChatTest, PromptsOnATerminal) {
  OnTerminal chat(service_.address(), directory_.string());
  chat.Await("> ");
  chat.Type("a b\n");
  chat.Await("A B \r\n> ");
  chat.Type(kEndOfInput);
  EXPECT_EQ(chat.ExitCode(), 0);
}

TEST_F(ChatTest, AModelThatDoesNotChatIsRefusedBeforeTheFirstTurn) {
  OnTerminal chat(service_.address(), directory_.string(), "mute");
  EXPECT_EQ(chat.ExitCode(), 1);
  EXPECT_THAT(chat.shown(), HasSubstr("model \"mute\" does not chat"));
  EXPECT_THAT(chat.shown(), Not(HasSubstr("> ")));
}

TEST_F(ChatTest, LinesThatAreNoTurns) {
  OnTerminal chat(service_.address(), directory_.string());
  chat.Await("> ");
  chat.Type("/help\n");
  chat.Await("begins with a slash\r\n> ");
  chat.Type("/system Be good.\n");
  chat.Await("good.\r\n> ");
  chat.Type("a b\n");
  chat.Await("A B \r\n> ");
  EXPECT_THAT(Messages(), ElementsAre("system: Be good.", "user: a b"));
  const std::string file = (directory_ / "said.json").string();
  chat.Type("/save " + file + "\n");
  chat.Await("said.json\r\n> ");
  EXPECT_THAT(ReadAll(file), HasSubstr("assistant"));
  chat.Type("/reset\n");
  chat.Await("/reset\r\n> ");
  chat.Type("c\n");
  chat.Await("C \r\n> ");
  EXPECT_THAT(Messages(), ElementsAre("system: Be good.", "user: c"));
  chat.Type("/system\n");
  chat.Await("/system\r\n> ");
  chat.Type("//d\n");
  chat.Await("/D \r\n> ");
  EXPECT_THAT(Messages(), ElementsAre("user: c", "assistant: C ", "user: /d"));
  chat.Type("/rest\n");
  chat.Await("did you mean /reset?; /help shows what there is\r\n> ");
  chat.Type("/save /no/such/file\n");
  chat.Await("cannot be written\r\n> ");
  chat.Type(kEndOfInput);
  EXPECT_EQ(chat.ExitCode(), 0);
}

// A pipe has no such lines.
TEST_F(ChatTest, ASlashInAFileIsATurn) {
  EXPECT_EQ(Run("chat", "/reset\n").out, "/RESET \n");
}

constexpr char kUp[] = "\x10";    // as the arrow
constexpr char kHome[] = "\x01";  // as the key

TEST_F(ChatTest, LinesAreEditedAndFoundAgain) {
  {
    OnTerminal chat(service_.address(), directory_.string());
    chat.Await("> ");
    chat.Type("b\u00fc\n");
    chat.Await("B\u00fc \r\n> ");
    chat.Type(std::string(kUp) + kHome + "a \n");
    chat.Await("A B\u00fc \r\n> ");
    chat.Type(kInterrupt);
    EXPECT_EQ(chat.ExitCode(), 130);
  }
  OnTerminal next(service_.address(), directory_.string());
  next.Await("> ");
  next.Type(std::string(kUp) + kUp + " c\n");
  next.Await("B\u00fc C \r\n> ");
  EXPECT_THAT(Messages(), ElementsAre("user: b\u00fc c"));
  next.Type(kEndOfInput);
  EXPECT_EQ(next.ExitCode(), 0);
  struct stat file;
  ASSERT_EQ(stat((directory_ / "attend/chat_history").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
}

TEST_F(ChatTest, InterruptStopsAnAnswer) {
  OnTerminal chat(service_.address(), directory_.string());
  chat.Await("> ");
  chat.Type("hang\n");
  // The first call asks for the model.
  while (service_.calls() < 2) std::this_thread::yield();
  chat.Type(kInterrupt);
  chat.Await("\r\n> ");
  chat.Type("a b\n");
  chat.Await("A B \r\n> ");
  EXPECT_THAT(Messages(),
              ElementsAre("user: hang", "assistant: ", "user: a b"));
  chat.Type(kEndOfInput);
  EXPECT_EQ(chat.ExitCode(), 0);
}

TEST_F(ChatTest, InterruptAtThePromptEnds) {
  OnTerminal chat(service_.address(), directory_.string());
  chat.Await("> ");
  chat.Type(kInterrupt);
  EXPECT_EQ(chat.ExitCode(), 130);
}

}  // namespace
}  // namespace attend
