#include "engine/tokenizer/chat/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/algorithm/container.h"
#include "engine/tokenizer/sandbox/sandbox.h"
#include "engine/tokenizer/text/tokenizer.h"
#include "tests/engine/tokenizer/sandbox_processes.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGolden[] = ATTEND_SOURCE_DIR "/tests/engine/tokenizer/golden/";

std::string Read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Json ReadJson(const std::string& name) {
  return Json::parse(Read(std::string(kGolden) + "chat/" + name));
}

// A directory of files that goes when the test does.
class Directory {
 public:
  Directory() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = testing::TempDir() + "/" + test->test_suite_name() +
            std::to_string(testing::UnitTest::GetInstance()->random_seed()) +
            std::filesystem::path(test->name()).filename().string();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = path_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Chat OneTurn(const std::string& text = "Hi") {
  Chat chat;
  chat.messages.push_back({.role = "user", .content = text, .fields = ""});
  return chat;
}

Chat ToChat(const Json& json) {
  Chat chat;
  for (const Json& message : json["messages"]) {
    chat.messages.push_back(
        {.role = message["role"],
         .content = message["content"],
         .fields = message.contains("fields") ? message["fields"].dump() : ""});
  }
  chat.add_generation_prompt = json.value("add_generation_prompt", true);
  if (json.contains("variables")) chat.variables = json["variables"].dump();
  return chat;
}

absl::Time Noon() {
  return absl::FromCivil(absl::CivilHour(2026, 7, 4, 12),
                         absl::LocalTimeZone());
}

std::unique_ptr<ChatTemplate> Load(const Directory& directory) {
  auto loaded = ChatTemplate::Load(directory.path());
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return *std::move(loaded);
}

// Of a directory that has only this template.
absl::StatusOr<std::string> RenderOnce(const std::string& source,
                                       const Chat& chat) {
  const Directory directory;
  directory.Write("chat_template.jinja", source);
  auto loaded = ChatTemplate::Load(directory.path());
  if (!loaded.ok()) return loaded.status();
  return (*loaded)->Render(chat, Noon());
}

class GoldenChatTest : public testing::TestWithParam<const char*> {};

TEST_P(GoldenChatTest, AsTransformers) {
  const Directory directory;
  directory.Write("tokenizer_config.json",
                  R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}})");
  directory.Write(
      "chat_template.jinja",
      Read(kGolden + ("chat/" + std::string(GetParam())) + ".jinja"));
  const std::unique_ptr<ChatTemplate> chat = Load(directory);
  ASSERT_NE(chat, nullptr);
  const Json chats = ReadJson("conversations.json");
  const Json expected = ReadJson("expected.json")[GetParam()];
  int rendered = 0;
  for (const auto& [name, conversation] : chats.items()) {
    const auto text = chat->Render(ToChat(conversation), Noon());
    EXPECT_EQ(text.ok(), !expected[name].is_null()) << name << text.status();
    if (!text.ok()) continue;
    EXPECT_EQ(*text, expected[name].get<std::string>()) << name;
    ++rendered;
  }
  EXPECT_GE(rendered, 9);
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenChatTest,
                         testing::Values("chatml", "command-r", "deepseek-r1",
                                         "falcon", "gemma", "llama-2",
                                         "llama-3", "mistral", "odd", "phi-3",
                                         "qwen2.5", "qwen3", "smollm2",
                                         "zephyr"));

TEST(ChatTemplateTest, NoneWhereNoFileHasOne) {
  const Directory directory;
  EXPECT_EQ(Load(directory), nullptr);
  directory.Write("tokenizer_config.json", R"({"chat_template": null})");
  EXPECT_EQ(Load(directory), nullptr);
}

TEST(ChatTemplateTest, InTokenizerConfigByName) {
  const Directory directory;
  directory.Write("tokenizer_config.json", R"({"chat_template": [
      {"name": "default", "template": "plain {{ messages[0].content }}"},
      {"name": "tool_use", "template":
       "{{ tools | length }} tools {{ messages[0].content }}"}]})");
  const std::unique_ptr<ChatTemplate> templates = Load(directory);
  Chat chat = OneTurn();
  EXPECT_EQ(*templates->Render(chat, Noon()), "plain Hi");
  chat.variables = R"({"tools": [{}, {}]})";
  EXPECT_EQ(*templates->Render(chat, Noon()), "2 tools Hi");
}

TEST(ChatTemplateTest, FilesGoBeforeTokenizerConfig) {
  const Directory directory;
  directory.Write("tokenizer_config.json",
                  R"({"chat_template": "config {{ messages[0].content }}"})");
  EXPECT_EQ(*Load(directory)->Render(OneTurn(), Noon()), "config Hi");
  directory.Write("chat_template.jinja", "file {{ messages[0].content }}");
  directory.Write("additional_chat_templates/tool_use.jinja",
                  "tools {{ messages[0].content }}");
  EXPECT_EQ(*Load(directory)->Render(OneTurn(), Noon()), "file Hi");
  Chat chat = OneTurn();
  chat.variables = R"({"tools": []})";
  EXPECT_EQ(*Load(directory)->Render(chat, Noon()), "tools Hi");
}

TEST(ChatTemplateTest, VariablesGoBeforeTokens) {
  const Directory directory;
  directory.Write("chat_template.jinja",
                  "{{ bos_token }}{{ x }}{{ messages[0].content }}");
  directory.Write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  Chat chat = OneTurn();
  EXPECT_EQ(*Load(directory)->Render(chat, Noon()), "<s>Hi");
  chat.variables = R"({"bos_token": "B", "x": [1, null]})";
  EXPECT_EQ(*Load(directory)->Render(chat, Noon()), "B[1, None]Hi");
}

// Compares lists that hold one another, which takes 2 ** 60 steps, if the first
// message is "slow".
constexpr char kSlow[] =
    "{% if messages[0].content == 'slow' %}"
    "{% set ns = namespace(x=[], y=[]) %}{% for a in range(60) %}"
    "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
    "{{ ns.x == ns.y }}{% else %}{{ messages[0].content }}{% endif %}";

void ExpectError(const std::string& source, const std::string& error) {
  const absl::Status status = RenderOnce(source, OneTurn()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << source;
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("chat_template.jinja: "), HasSubstr(error)));
}

TEST(ChatTemplateTest, ErrorsNameFileAndLine) {
  ExpectError("a\n{% if %}", "line 2: syntax error");
  ExpectError("a\n\n{{ b.c.d }}", "line 3: undefined value");
  ExpectError("{{ raise_exception('no ' + messages[0].role) }}",
              "line 1: no user");
  ExpectError("{{ messages.append(1) }}", "no method named append");
  ExpectError("{{ 'a' | nope }}", "filter nope is unknown");
  ExpectError("{{ x | tojson }}", "undefined is not JSON serializable");
  ExpectError("\xff", "is not UTF-8 at byte 0");
  ExpectError(std::string((1 << 20) + 1, 'x'), "limit is 1048576");
}

TEST(ChatTemplateTest, HostileTemplatesEnd) {
  const std::string forever =
      "{% for a in range(90000) %}{% for b in range(90000) %}.{% endfor %}"
      "{% endfor %}";
  const auto nested = [](const std::string& value) {
    return "{% set ns = namespace(x=[]) %}{% for a in range(99) %}"
           "{% for b in range(9999) %}{% set ns.x = " +
           value + " %}{% endfor %}{% endfor %}";
  };
  ExpectError(forever, "takes more than 5000000 steps");
  ExpectError(nested("[ns.x]"), "takes more than 64 MiB of memory");
  ExpectError(
      "{% set ns = namespace(x=[]) %}{% for a in range(60) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
      "takes more than 16777216 bytes");
  ExpectError("{% for i in range(99) %}{{ 'x' * 1000000 }}{% endfor %}",
              "gives more than 16777216 bytes");
  ExpectError("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
              "recursion limit");
  ExpectError("{{ " + std::string(9999, '[') + std::string(9999, ']') + " }}",
              "recursion limits");
  ExpectError("{{ 'x' * 1000000000 }}", "too large");
  ExpectError("{{ '{:>999999999}'.format(1) }}", "limit is 1048576");
  ExpectError("{{ '%999999999d' % 1 }}", "limit is 1048576");
  ExpectError("{{ 'x' | center(999999999) }}", "limit is 1048576");
}

// Each would take gigabytes, or for ever.
TEST(ChatTemplateTest, HostileTemplatesHaveLimitsOfMemoryAndTime) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer takes memory and time itself";
  const auto forty = [](const std::string& grown) {
    return "{% set ns = namespace(x='xy', l=[1]) %}{% for i in range(40) %}"
           "{% set ns.x = ns.x" +
           grown + " %}{% endfor %}{{ ns.x | length }}";
  };
  const std::string memory = "takes more than 64 MiB of memory";
  // Of one value, or of all memory, whichever is reached first.
  const std::string limit = "takes more than ";
  ExpectError(forty(" ~ ns.x"), limit);
  ExpectError(forty(" + ns.x"), limit);
  ExpectError(forty(".replace('x', ns.x)"), memory);
  ExpectError(forty(" | replace('y', ns.x)"), memory);
  ExpectError(forty("~ [ns.x, ns.x] | join"), limit);
  ExpectError(forty(".join([ns.x, ns.x])"), limit);
  ExpectError("{% set l = ['x' * 9000] * 90000 %}{{ l | join | length }}",
              limit);
  ExpectError("{{ ([1] * 1000000000) | list | length }}", "too large");
  ExpectError("{{ [1] | batch(1000000000, 0) | list | length }}", "limit is");
  ExpectError(
      "{% set ns = namespace() %}{% for i in range(99) %}"
      "{% set x %}{{ ns.x }}{{ ns.x }}x{% endset %}{% set ns.x = x %}"
      "{% endfor %}",
      memory);
  ExpectError("{% macro m(s) %}{{ m(s ~ s) }}{% endmacro %}{{ m('xy') }}",
              limit);
  const std::string time = "takes more than 2s";
  ExpectError(
      "{% set ns = namespace(x=[], y=[]) %}{% for a in range(60) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
      "{{ ns.x == ns.y }}",
      time);
  ExpectError(
      "{% set a = namespace() %}{% set b = namespace(x=a) %}"
      "{% set a.x = b %}{{ a == b }}",
      memory);  // of the stack
}

// So that this program may be started to render. The C library gives its
// constructors the arguments of main().
__attribute__((constructor)) void MayRender(int argc, char** argv) {
  Sandbox::RunIfStartedForIt(argc, argv);
}

TEST(ChatTemplateTest, TheProcessThatStartsOthersIsStartedAgain) {
  const Directory directory;
  directory.Write("chat_template.jinja", "{{ messages[0].content }}");
  const std::unique_ptr<ChatTemplate> chat = Load(directory);
  for (int round = 0; round < 2; ++round) {
    // Jobs of earlier tests may have ended by its replacement.
    ASSERT_TRUE(WaitUntil([&] {
      return chat->Render(OneTurn(), Noon()).ok() &&
             SandboxProcesses(getpid()).size() == 1;
    }));
    const std::vector<pid_t> starters = SandboxProcesses(getpid());
    ASSERT_EQ(kill(starters[0], SIGKILL), 0);
    EXPECT_TRUE(WaitUntil([&] {
      return chat->Render(OneTurn(), Noon()).ok() &&
             SandboxProcesses(getpid()) != starters;
    }));
  }
}

TEST(ChatTemplateTest, ARenderingWhoseProcessIsKilledSaysSo) {
  const Directory directory;
  directory.Write("chat_template.jinja", kSlow);
  const std::unique_ptr<ChatTemplate> chat = Load(directory);
  std::set<pid_t> killed;
  std::atomic<bool> done{false};
  std::thread killer([&] {
    while (!done) {
      for (const pid_t renders : SandboxWorkers()) {
        kill(renders, SIGKILL);
        killed.insert(renders);
      }
    }
  });
  const absl::Status ended = chat->Render(OneTurn("slow"), Noon()).status();
  done = true;
  killer.join();
  // One that has not died yet might take the next rendering.
  EXPECT_TRUE(WaitUntil([&] {
    return absl::c_none_of(SandboxWorkers(),
                           [&](pid_t p) { return killed.contains(p); });
  }));
  EXPECT_TRUE(absl::IsUnavailable(ended)) << ended;
  EXPECT_THAT(ended.message(),
              HasSubstr("the process that rendered the chat was killed"));
}

TEST(ChatTemplateTest, ARenderingEndsWithItsCall) {
  const Directory directory;
  directory.Write("chat_template.jinja", kSlow);
  const std::unique_ptr<ChatTemplate> chat = Load(directory);
  const absl::Time begin = absl::Now();
  const absl::Status ended =
      chat->Render(OneTurn("slow"), Noon(), [] { return true; }).status();
  EXPECT_TRUE(absl::IsCancelled(ended)) << ended;
  EXPECT_LT(absl::Now() - begin, absl::Seconds(1));
}

TEST(ChatTemplateTest, BadChatsAreRefused) {
  const auto error = [](const Chat& chat) {
    return std::string(
        RenderOnce("{{ messages[0].content }}", chat).status().message());
  };
  EXPECT_EQ(error(Chat()), "messages is empty, must have at least one message");
  Chat chat = OneTurn();
  chat.variables = "[]";
  EXPECT_EQ(error(chat), "variables: is [], expected a json object");
  chat.variables = "{\"a\": ";
  EXPECT_THAT(error(chat), HasSubstr("variables: "));
  chat.variables =
      "{\"a\": " + std::string(99, '[') + std::string(99, ']') + "}";
  EXPECT_THAT(error(chat),
              HasSubstr("variables: not valid json: nested deeper"));
  chat.variables = R"({"a": 1, "a": 2})";
  EXPECT_THAT(error(chat), HasSubstr("key \"a\" twice"));
  chat = OneTurn();
  chat.messages[0].fields = "1";
  EXPECT_EQ(error(chat), "messages[0].fields: is 1, expected a json object");
  EXPECT_EQ(error(OneTurn("\xc3")),
            "messages[0].content is not UTF-8 at byte 0");
}

// A model is of use without its template.
TEST(ChatTemplateTest, WrongFieldsAreSaidWhenAChatIsRendered) {
  for (const char* config :
       {R"({"chat_template": 1})", R"({"chat_template": ["x"]})",
        R"({"chat_template": [{"name": "a", "template": 1}]})"}) {
    const Directory directory;
    directory.Write("tokenizer_config.json", config);
    const std::unique_ptr<ChatTemplate> chat = Load(directory);
    ASSERT_NE(chat, nullptr);
    EXPECT_THAT(std::string(chat->refusal().message()),
                StartsWith("tokenizer_config.json: "))
        << config;
    EXPECT_EQ(chat->Render(OneTurn(), Noon()).status(), chat->refusal());
  }
  const Directory directory;
  directory.Write("tokenizer_config.json",
                  R"({"chat_template": [{"name": "rag", "template": "x"}]})");
  EXPECT_THAT(
      std::string(
          Load(directory)->Render(OneTurn(), Noon()).status().message()),
      HasSubstr("none is named default: rag"));
}

TEST(ChatTemplateTest, OneThatDoesNotCompileIsNoErrorOfTheModel) {
  const Directory directory;
  directory.Write("chat_template.jinja", "a\n{% if %}");
  const std::unique_ptr<ChatTemplate> chat = Load(directory);
  ASSERT_NE(chat, nullptr);
  EXPECT_THAT(std::string(chat->refusal().message()),
              StartsWith("chat_template.jinja: line 2: syntax error"));
  // The other template is of use.
  directory.Write("additional_chat_templates/tool_use.jinja",
                  "{{ messages[0].content }}{{ tools }}");
  Chat with_tools = OneTurn();
  with_tools.variables = R"({"tools": [1]})";
  EXPECT_EQ(*Load(directory)->Render(with_tools, Noon()), "Hi[1]");
}

TEST(ChatTemplateTest, AProblemNamesTheFileAndWhatIsLost) {
  const Directory directory;
  const auto problem = [&](const std::string& source) {
    directory.Write("chat_template.jinja", source);
    return std::string(Load(directory)->problem().message());
  };
  EXPECT_EQ(problem("{{ messages[0].content }}"), "");
  EXPECT_EQ(problem("{{ messages[0].content }}{{ tools }}"), "");
  EXPECT_THAT(problem("{% if %}"), StartsWith("chat_template.jinja: line 1"));
  EXPECT_THAT(problem("{{ messages[0].text }}"),
              HasSubstr("leaves out what a user writes"));
  EXPECT_EQ(problem("{{ messages[0].content }}{# no tools #}"),
            "chat_template.jinja: the chat template mentions tools, but leaves "
            "them out in every form");
  // Tools have a template of their own, whatever this one does.
  directory.Write("additional_chat_templates/tool_use.jinja", "{% if %}");
  EXPECT_THAT(problem("{{ messages[0].content }}"),
              StartsWith("tool_use.jinja: line 1"));
}

// Llama Guard 3: a text would be looked through letter by letter.
TEST(ChatTemplateTest, ContentIsGivenInTheFormThatTheTemplateReads) {
  const std::string parts =
      "{% for m in messages %}<{{ m.role }}>{% for p in m.content %}"
      "{% if p.type == 'text' %}{{ p.text | trim }}{% endif %}{% endfor %}"
      "{% endfor %}";
  EXPECT_EQ(*RenderOnce(parts, OneTurn()), "<user>Hi");
  EXPECT_EQ(*RenderOnce("{{ messages[0].content[0].text | upper }}", OneTurn()),
            "HI");
  // Only the user's content is in parts.
  Chat chat = OneTurn();
  chat.messages.insert(chat.messages.begin(),
                       {.role = "system", .content = "Be.", .fields = ""});
  EXPECT_EQ(*RenderOnce("{% for m in messages %}{% if m.role == 'system' %}"
                        "{{ m.content | trim }}{% else %}"
                        "{{ m.content[0].text }}{% endif %}{% endfor %}",
                        chat),
            "Be.Hi");
  EXPECT_EQ(*RenderOnce(parts, chat), "<system>Be.<user>Hi");
  // Parts that a client sends itself stay as they are.
  chat = OneTurn();
  chat.messages[0].fields = R"({"content": [{"type": "text", "text": "own"}]})";
  EXPECT_EQ(*RenderOnce(parts, chat), "<user>own");
}

TEST(ChatTemplateTest, OneThatLosesTheTextIsRefused) {
  const auto refused = RenderOnce("<user>{{ messages[0].text }}", OneTurn());
  EXPECT_EQ(refused.status().message(),
            "chat_template.jinja: the chat template leaves out what a user "
            "writes, whether content is a text or a list of parts");
  // One that wants something else first may be right.
  const std::string wants =
      "{% if messages[0].role != 'system' %}{{ raise_exception('no') }}"
      "{% endif %}{{ messages[1].content }}";
  Chat chat = OneTurn();
  chat.messages.insert(chat.messages.begin(),
                       {.role = "system", .content = "Be.", .fields = ""});
  EXPECT_EQ(*RenderOnce(wants, chat), "Hi");
}

TEST(ChatTemplateTest, ToolsAreGivenInTheFormThatTheTemplateReads) {
  Chat chat = OneTurn();
  chat.variables =
      R"({"tools": [{"type": "function", "function": {"name": "f"}}]})";
  const std::string text = "{{ messages[-1].content }}";
  EXPECT_EQ(*RenderOnce("{{ tools[0].function.name }}" + text, chat), "fHi");
  // Phi-4-mini
  const std::string phi =
      "{% for m in messages %}{% if m.role == 'system' and 'tools' in m and "
      "m.tools is not none %}<|tool|>{{ m.tools }}<|/tool|>{% endif %}"
      "{{ m.content }}{% endfor %}";
  EXPECT_EQ(*RenderOnce(phi, chat), "<|tool|>[{\"name\":\"f\"}]<|/tool|>Hi");
  // Tools that are shown in a system message only.
  EXPECT_EQ(*RenderOnce("{% if messages[0].role == 'system' %}"
                        "{{ tools[0].function.name }}{% endif %}" +
                            text,
                        chat),
            "fHi");
  const auto takes = [](const std::string& source) {
    const Directory directory;
    directory.Write("chat_template.jinja", source);
    return Load(directory)->takes_tools();
  };
  EXPECT_TRUE(takes(phi));
  EXPECT_TRUE(takes("{{ tools | tojson }}" + text));
  EXPECT_FALSE(takes(text));
  EXPECT_FALSE(takes("{# tools #}" + text));
}

// Templates that look into arguments would fail for ever after a call that was
// cut.
TEST(ChatTemplateTest, ArgumentsThatAreNoObjectAreRendered) {
  Chat chat = OneTurn();
  chat.messages.push_back(
      {.role = "assistant",
       .content = "",
       .fields = R"({"tool_calls": [{"function": {"name": "f",
                     "arguments": "{\"a\": "}}]})"});
  const std::string call =
      "{{ messages[0].content }}{% for m in messages[1:] %}"
      "{% set f = m.tool_calls[0].function %}";
  EXPECT_EQ(*RenderOnce(call + "{{ f.arguments }}{% endfor %}", chat),
            "Hi{\"a\": ");
  EXPECT_EQ(*RenderOnce(call + "{% for k, v in f.arguments.items() %}{{ k }}="
                               "{{ v }}{% endfor %}{% endfor %}",
                        chat),
            "Hitext={\"a\": ");
}

// Mistral's templates; other models and clients make other ids, or none.
TEST(ChatTemplateTest, IdsOfCallsAreThoseThatTheTemplateTakes) {
  const std::string source =
      "{{ messages[0].content }}{% for m in messages[1:] %}"
      "{% set id = m.tool_call_id or m.tool_calls[0].id %}"
      "{% if id is not defined or id | length != 9 %}"
      "{{ raise_exception('ids have 9 letters') }}{% endif %}"
      "{{ ' ' + id }}{% endfor %}";
  const auto ids = [&](const std::string& of_call, const std::string& answer) {
    Chat chat = OneTurn();
    chat.messages.push_back(
        {.role = "assistant",
         .content = "",
         .fields = R"({"tool_calls": [{)" + of_call +
                   R"("function": {"name": "f", "arguments": {}}}]})"});
    chat.messages.push_back(
        {.role = "tool", .content = "1", .fields = "{" + answer + "}"});
    const auto text = RenderOnce(source, chat);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  };
  EXPECT_EQ(ids(R"("id": "abcDEF123",)", R"("tool_call_id": "abcDEF123")"),
            "Hi abcDEF123 abcDEF123");
  const std::string shortened =
      ids(R"("id": "call_1",)", R"("tool_call_id": "call_1")");
  EXPECT_EQ(shortened.size(), std::string("Hi 123456789 123456789").size());
  EXPECT_EQ(shortened.substr(3, 9), shortened.substr(13));
  const std::string made = ids("", "");
  EXPECT_EQ(made.substr(3, 9), made.substr(13));
  EXPECT_NE(made, shortened);
  EXPECT_EQ(ids(R"("id": "call_1",)", ""), shortened);
}

TEST(ChatTemplateTest, ManyThreads) {
  const Directory directory;
  directory.Write("chat_template.jinja", "{{ messages[0].content }}");
  const std::unique_ptr<ChatTemplate> chat = Load(directory);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&chat, i] {
      for (int n = 0; n < 50; ++n) {
        const std::string text = std::to_string(i * 1000 + n);
        EXPECT_EQ(*chat->Render(OneTurn(text), Noon()), text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace attend
