// What a chat becomes, and what becomes of the model's text: of models whose
// text a test chooses.

#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attend/v1/attend.pb.h"
#include "tests/server/openai/chat_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TestContext final : public CallContext {
 public:
  TestContext() : CallContext(kLifecycle, kClock) { request_id_ = "id"; }
  void WakeAfterStep() override {}

 private:
  static inline const Lifecycle kLifecycle;
  static inline const SteadyClock kClock;
};

constexpr char kAsk[] =
    R"("messages": [{"role": "user", "content": "a"}],
       "tools": [{"type": "function", "function": {"name": "f",
                  "parameters": {"type": "object"}}}])";

class ChatTranslatorTest : public testing::Test {
 protected:
  // Reads a request; empty, or the error.
  std::string Read(const std::string& fields) {
    translator_ = NewChatTranslator();
    const HttpCallInput input = {
        .body = {.text = absl::StrCat("{", kAsk, ", ", fields, "}"),
                 .budgeted = {}},
        .content_type = "application/json",
        .path_rest = "",
        .query = ""};
    auto handled = translator_->Read(input, fixture_.calls->service, context_);
    if (!handled.ok()) return std::string(handled.status().message());
    request_ = *std::move(handled);
    return "";
  }
  const v1::GenerationParams& params() const {
    return static_cast<const v1::GenerateRequest&>(*request_.message).params();
  }

  // The whole answer for the text of the model.
  json Whole(const std::string& text,
             v1::FinishReason finish = v1::FINISH_REASON_EOS) {
    v1::GenerateResponse response;
    v1::Choice& choice = *response.add_results()->add_choices();
    choice.set_text(text);
    choice.set_finish_reason(finish);
    std::string body;
    EXPECT_TRUE(translator_->Append(response, body).ok());
    return json::parse(body)["choices"][0];
  }

  // The events for a text that comes by single bytes.
  std::vector<json> Streamed(const std::string& text) {
    std::string body;
    for (size_t i = 0; i <= text.size(); ++i) {
      v1::GenerateChunk chunk;
      chunk.set_text(text.substr(i, 1));
      if (i == text.size()) chunk.set_finish_reason(v1::FINISH_REASON_EOS);
      EXPECT_TRUE(translator_->Append(chunk, body).ok());
    }
    std::vector<json> choices;
    for (absl::string_view event : absl::StrSplit(body, "\n\n")) {
      if (!absl::ConsumePrefix(&event, "data: ")) continue;
      choices.push_back(json::parse(event)["choices"][0]);
    }
    return choices;
  }

  HttpFixture fixture_{WithTemplate()};
  TestContext context_;
  std::unique_ptr<HttpTranslator> translator_;
  HandledRequest request_;
};

TEST_F(ChatTranslatorTest, CallsOfTheModelAreToolCalls) {
  ASSERT_EQ(Read(R"("tool_choice": "auto")"), "");
  EXPECT_FALSE(params().has_constraint());
  const json choice = Whole(
      "Wait. <tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}"
      "</tool_call>");
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["message"]["content"], "Wait.");
  EXPECT_EQ(choice["message"]["tool_calls"],
            json::parse(R"([{"id": "call_id_0", "type": "function", "function":
                {"name": "f", "arguments": "{\"x\":1}"}}])"));
}

TEST_F(ChatTranslatorTest, CallsAreStreamed) {
  ASSERT_EQ(Read(R"("stream": true)"), "");
  const std::vector<json> events = Streamed(
      "Hm<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}</tool_call>"
      "<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>");
  std::string text;
  json calls;
  for (const json& event : events) {
    text += event["delta"].value("content", "");
    if (!event["delta"].contains("tool_calls")) continue;
    for (const json& call : event["delta"]["tool_calls"]) calls += call;
  }
  EXPECT_EQ(text, "Hm");
  EXPECT_EQ(calls, json::parse(R"([
      {"index": 0, "id": "call_id_0", "type": "function",
       "function": {"name": "f", "arguments": "{\"x\":1}"}},
      {"index": 1, "id": "call_id_1", "type": "function",
       "function": {"name": "g", "arguments": "{}"}}])"));
  EXPECT_EQ(events.back()["finish_reason"], "tool_calls");
}

TEST_F(ChatTranslatorTest, ANamedFunctionHasTheTextAsArguments) {
  ASSERT_EQ(Read(R"("tool_choice": {"type": "function",
                                    "function": {"name": "f"}})"),
            "");
  EXPECT_EQ(params().constraint().json_schema(), R"({"type":"object"})");
  const json choice = Whole("{\"x\": 1}");
  EXPECT_EQ(choice["message"]["content"], nullptr);
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"],
            json::parse(R"({"name": "f", "arguments": "{\"x\": 1}"})"));
}

TEST_F(ChatTranslatorTest, ACallByTheModelsOwnChoiceMayBeHeld) {
  ASSERT_EQ(Read(R"("tool_choice": "auto")"), "");
  EXPECT_FALSE(params().has_constraint());
  ASSERT_EQ(Read(R"("parallel_tool_calls": false)"), "");
  EXPECT_THAT(params().constraint().lark(), StartsWith("start: REST? | lead"));
  const std::string call =
      "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
  json choice = Whole(call);
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  // As of a model whose format no grammar holds.
  ASSERT_EQ(Read(R"("parallel_tool_calls": false)"), "");
  choice = Whole(call + call);
  EXPECT_EQ(choice["message"]["tool_calls"].size(), 1u);
  EXPECT_EQ(choice["message"]["content"], nullptr);
}

TEST_F(ChatTranslatorTest, ARequiredCallIsOneOfAList) {
  ASSERT_EQ(Read(R"("tool_choice": "required")"), "");
  EXPECT_THAT(params().constraint().json_schema(), EndsWith("\"minItems\":1}"));
  const json choice = Whole(R"([{"name": "f", "arguments": {"x": 1}}])");
  EXPECT_EQ(choice["finish_reason"], "tool_calls");
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"],
            json::parse(R"({"name": "f", "arguments": "{\"x\":1}"})"));
  // Half a list is a text.
  ASSERT_EQ(Read(R"("tool_choice": "required")"), "");
  const json half = Whole("[{\"name\": \"f\"", v1::FINISH_REASON_MAX_LENGTH);
  EXPECT_EQ(half["finish_reason"], "length");
  EXPECT_EQ(half["message"]["content"], "[{\"name\": \"f\"");
}

TEST_F(ChatTranslatorTest, OneFieldSaysWhatTheTextHasToBe) {
  EXPECT_EQ(Read(R"("guided_regex": "a", "tool_choice": "required")"),
            "tools is given, and so is guided_regex: one must be absent");
  EXPECT_EQ(Read(R"("guided_grammar": "start: /a/")"),
            "guided_grammar is a grammar, and tools are given, whose calls it "
            "would have to allow: must be absent");
  EXPECT_EQ(Read(R"("response_format": {"type": "json_object"},
                    "tool_choice": "none")"),
            "");
  EXPECT_TRUE(params().constraint().has_json_object());
}

// Five SDKs send both.
TEST_F(ChatTranslatorTest, AFormOfTheAnswerStandsBesideTools) {
  ASSERT_EQ(Read(R"("response_format": {"type": "json_object"})"), "");
  EXPECT_THAT(params().constraint().lark(),
              StartsWith("start: answer | tagged+\nanswer: %json "));
  EXPECT_EQ(Whole("{}")["message"]["content"], "{}");
  ASSERT_EQ(Read(R"("response_format": {"type": "json_schema", "json_schema":
                    {"name": "n", "schema": {"enum": [1]}}})"),
            "");
  EXPECT_THAT(params().constraint().lark(), HasSubstr("%json {\"enum\":[1],"));
  ASSERT_EQ(Read(R"("guided_choice": ["a", "b"])"), "");
  EXPECT_THAT(params().constraint().lark(), HasSubstr("answer: \"a\" | \"b\""));
  ASSERT_EQ(Read(R"("guided_regex": "a/b\\/c")"), "");
  EXPECT_THAT(params().constraint().lark(), HasSubstr("answer: /a\\/b\\/c/"));
  // A text that has to be calls is no answer.
  ASSERT_EQ(Read(R"("response_format": {"type": "json_object"},
                    "tool_choice": "required")"),
            "");
  EXPECT_THAT(params().constraint().json_schema(), EndsWith("\"minItems\":1}"));
}

TEST_F(ChatTranslatorTest, ThoughtsAreReasoningAndNeverCalls) {
  context_.set_thought({.begin = "<think>", .end = "</think>", .open = true});
  const std::string call =
      "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
  ASSERT_EQ(Read(R"("tool_choice": "auto")"), "");
  json choice = Whole("I could " + call + "\n</think>\n\nNo.");
  EXPECT_EQ(choice["message"]["reasoning_content"], "I could " + call);
  EXPECT_EQ(choice["message"]["content"], "No.");
  EXPECT_FALSE(choice["message"].contains("tool_calls"));
  EXPECT_EQ(choice["finish_reason"], "stop");

  ASSERT_EQ(Read(R"("tool_choice": "auto")"), "");
  choice = Whole("I do.\n</think>\n\n" + call);
  EXPECT_EQ(choice["message"]["reasoning_content"], "I do.");
  EXPECT_EQ(choice["message"]["content"], nullptr);
  EXPECT_EQ(choice["finish_reason"], "tool_calls");

  ASSERT_EQ(Read(R"("stream": true)"), "");
  std::string reasoning, text;
  int calls = 0;
  for (const json& event : Streamed("I do.</think>Yes." + call)) {
    reasoning += event["delta"].value("reasoning_content", "");
    text += event["delta"].value("content", "");
    calls += event["delta"].contains("tool_calls");
  }
  EXPECT_EQ(reasoning, "I do.");
  EXPECT_EQ(text, "Yes.");
  EXPECT_EQ(calls, 1);
}

TEST_F(ChatTranslatorTest, AThoughtThatIsCutIsNoAnswer) {
  context_.set_thought({.begin = "<think>", .end = "</think>", .open = false});
  ASSERT_EQ(Read(R"("tool_choice": "none")"), "");
  const json choice =
      Whole("<think>Hm", v1::FINISH_REASON_MAX_LENGTH)["message"];
  EXPECT_EQ(choice["reasoning_content"], "Hm");
  EXPECT_EQ(choice["content"], "");
  ASSERT_EQ(Read(R"("tool_choice": "none")"), "");
  EXPECT_FALSE(Whole("Hm")["message"].contains("reasoning_content"));
}

// What attend.v1 says of a constraint is said of the field that asked for it.
TEST_F(ChatTranslatorTest, AConstraintIsNamedByItsField) {
  for (const auto& [fields, name] :
       {std::pair(R"("tool_choice": "required")", "tools"),
        std::pair(R"("tool_choice": "none", "guided_json": {})",
                  "guided_json")}) {
    ASSERT_EQ(Read(fields), "");
    EXPECT_EQ(RenameFields(absl::InvalidArgumentError(
                               "params.constraint.json_schema: too large"),
                           translator_->field_names())
                  .message(),
              absl::StrCat(name, ": too large"));
  }
}

}  // namespace
}  // namespace attend
