#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/server/openai/chat_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPath[] = "/v1/chat/completions";

// The text that a request becomes: tokens of the fake tokenizer are bytes.
std::string Rendered(const HttpFixture& fixture, const std::string& fields) {
  const json tokens =
      PostJson(fixture, "/tokenize", absl::StrCat("{", fields, "}"));
  return PostJson(fixture, "/detokenize",
                  json{{"tokens", tokens["tokens"]}}.dump())["prompt"];
}

TEST(ChatTest, TheWholeAnswer) {
  HttpFixture fixture(WithTemplate());
  const json answer = PostJson(
      fixture, kPath,
      R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 3,
          "temperature": 0, "n": 2, "logprobs": true, "top_logprobs": 1})");
  EXPECT_THAT(answer["id"].get<std::string>(), StartsWith("chatcmpl-"));
  EXPECT_EQ(answer["object"], "chat.completion");
  ASSERT_EQ(answer["choices"].size(), 2u);
  const json& choice = answer["choices"][1];
  EXPECT_EQ(choice["index"], 1);
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["message"]["content"],
            answer["choices"][0]["message"]["content"]);
  EXPECT_FALSE(choice["message"].contains("tool_calls"));
  EXPECT_EQ(choice["finish_reason"], "length");
  ASSERT_EQ(choice["logprobs"]["content"].size(), 3u);
  const json& token = choice["logprobs"]["content"][0];
  EXPECT_TRUE(token["top_logprobs"].is_array());  // of the fake: empty
  EXPECT_EQ(token["bytes"].size(), 1u);
  EXPECT_LT(token["logprob"], 0);
  EXPECT_EQ(answer["usage"]["completion_tokens"], 6);
}

// As programs send that fill every field.
TEST(ChatTest, FieldsThatAskForNothingAreTaken) {
  HttpFixture fixture(WithTemplate());
  const auto tokens = [&](const char* fields) {
    return PostJson(
        fixture, kPath,
        absl::StrCat(R"({"messages": [{"role": "user", "content": "a"}],
                         "temperature": 0)",
                     fields, "}"))["usage"]["completion_tokens"];
  };
  EXPECT_EQ(tokens(R"(, "max_tokens": -1)"), tokens(""));
  EXPECT_EQ(tokens(R"(, "tools": [], "tool_choice": "auto")"), tokens(""));
  EXPECT_EQ(tokens(R"(, "max_completion_tokens": -1)"), tokens(""));
  EXPECT_EQ(tokens(R"(, "max_tokens": 3, "top_logprobs": 0)"), 3);
  EXPECT_EQ(
      tokens(R"(, "max_tokens": 3, "top_logprobs": 0, "logprobs": false)"), 3);
  // Answers come back as they were sent.
  EXPECT_EQ(Rendered(fixture, R"("messages": [
      {"role": "user", "content": [{"type": "text", "text": "a",
       "cache_control": {"type": "ephemeral"}}]},
      {"role": "assistant", "content": "b", "refusal": null, "audio": null,
       "function_call": null, "annotations": [], "reasoning": "c",
       "parsed": {"x": 1}, "tool_calls": [{"index": 0, "id": "i",
       "type": "function", "function": {"name": "f", "arguments":
       "{\"x\": 1}", "parsed_arguments": {"x": 1}}}]}, {"role": "user", "content": "d"}])"),
            "<user>a<assistant>b[f 1]<user>d>");
  EXPECT_EQ(Rendered(fixture, R"("messages": [
      {"role": "user", "content": "a"},
      {"role": "assistant", "content": null, "refusal": "no"}])"),
            "<user>a<assistant>no>");
}

TEST(ChatTest, Streams) {
  HttpFixture fixture(WithTemplate());
  constexpr char kBody[] =
      R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 3,
          "temperature": 0, "n": 2, "stream": )";
  const json whole = PostJson(fixture, kPath, absl::StrCat(kBody, "false}"));
  std::vector<std::string> texts(2);
  std::vector<int> roles(2);
  const auto events = PostEvents(fixture, kPath, absl::StrCat(kBody, "true}"));
  for (const json& event : events) {
    EXPECT_EQ(event["object"], "chat.completion.chunk");
    EXPECT_FALSE(event.contains("usage"));
    const json& choice = event["choices"][0];
    texts.at(choice["index"]) += choice["delta"].value("content", "");
    roles.at(choice["index"]) += choice["delta"].contains("role");
  }
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(whole["choices"][i]["message"]["content"].get<std::string>(),
              texts[i]);
    EXPECT_EQ(roles[i], 1);
  }
}

TEST(ChatTest, WithoutAMaximumAsManyTokensAsFit) {
  HttpFixtureOptions options = WithTemplate();
  options.engines[0].info.max_target_tokens = 40;
  HttpFixture fixture(std::move(options));
  const json answer = PostJson(
      fixture, kPath, R"({"messages": [{"role": "user", "content": "a"}]})");
  EXPECT_EQ(answer["usage"]["total_tokens"], 40);
}

TEST(ChatTest, MessagesReachTheTemplate) {
  HttpFixture fixture(WithTemplate());
  EXPECT_EQ(Rendered(fixture, R"("messages": [
      {"role": "developer", "content": "s"},
      {"role": "user", "content": [{"type": "text", "text": "a"},
                                   {"type": "text", "text": "b"}]},
      {"role": "assistant", "content": null, "tool_calls": [
          {"id": "c1", "type": "function",
           "function": {"name": "f", "arguments": "{\"x\": 7}"}}]},
      {"role": "tool", "tool_call_id": "c1", "content": "r"},
      {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}],
      "tools": [{"type": "function", "function": {"name": "f"}}],
      "chat_template_kwargs": {"style": "!"}, "add_generation_prompt": false)"),
            "<system>s<user>a\nb<assistant>[f 7]<tool>rc1<assistant>no"
            "({\"type\": \"function\", \"function\": {\"name\": \"f\"}})!");
}

// A model may have written arguments that are cut, or none: the conversation
// goes on.
TEST(ChatTest, ArgumentsMayBeAnyText) {
  HttpFixture fixture(WithTemplate(
      "{{ messages[0].content }}{% for m in messages %}"
      "{% for c in m.tool_calls or [] %}{{ c.function.arguments | tojson }}"
      "{% endfor %}{% endfor %}"));
  const std::pair<const char*, const char*> cases[] = {
      {R"("")", "{}"},
      {R"("  ")", "{}"},
      {"null", "{}"},
      {R"("null")", "{}"},
      {R"({"x": 1})", R"({"x": 1})"},
      {R"("{\"x\": 1}")", R"({"x": 1})"},
      {R"("{\"x\": ")", R"("{\"x\": ")"},
      {R"("[1]")", R"("[1]")"},
      {R"("Bern")", R"("Bern")"},
      {R"("{\"a\": 1, \"a\": 2}")", R"("{\"a\": 1, \"a\": 2}")"},
  };
  for (const auto& [arguments, rendered] : cases) {
    EXPECT_EQ(Rendered(fixture, absl::StrCat(R"("messages": [
      {"role": "user", "content": "a"},
      {"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
       "function": {"name": "f", "arguments": )",
                                             arguments, "}}]}]")),
              absl::StrCat("a", rendered))
        << arguments;
  }
  EXPECT_EQ(Rendered(fixture, R"("messages": [
      {"role": "user", "content": "a"}, {"role": "assistant",
       "tool_calls": [{"function": {"name": "f"}}]}])"),
            "a{}");
}

TEST(ChatTest, ErrorsNameTheField) {
  HttpFixture fixture(WithTemplate());
  const std::string hello = R"("messages": [{"role": "user", "content": "a"}])";
  const struct {
    std::string body;
    const char *param, *message;
  } cases[] = {
      {"", "messages", "messages is absent"},
      {R"("messages": [])", "messages", "must be a list that is not empty"},
      {R"("messages": ["a"])", "messages[0]",
       "messages[0] is \"a\", must be an object"},
      {R"("messages": [{"content": "a"}])", "messages[0].role", "is absent"},
      {R"("messages": [{"role": "pope", "content": "a"}])", "messages[0].role",
       "is \"pope\", must be system, developer, user, assistant or tool"},
      {R"("messages": [{"role": "user", "content": "a", "mood": 1}])",
       "messages[0].mood", "is not a field"},
      {R"("messages": [{"role": "user", "content": [{"type": "image_url"}]}])",
       "messages[0].content[0].type", "must be \"text\""},
      {R"("messages": [{"role": "assistant", "tool_calls": [{"function":
          {"name": "f", "arguments": 1}}]}])",
       "messages[0].tool_calls[0].function.arguments", "must be a JSON object"},
      {R"("messages": [{"role": "user", "content": null}])",
       "messages[0].content", "is absent"},
      {hello + R"(, "max_tokens": -2)", "max_tokens", "max_tokens is -2"},
      {hello + R"(, "max_tokens": 0)", "max_tokens",
       "max_tokens is 0, must be 1 or more"},
      {hello + R"(, "max_completion_tokens": 0)", "max_completion_tokens",
       "max_completion_tokens is 0, must be 1 or more"},
      {R"("messages": [{"role": "user", "content": [{"type": "text",
          "text": "a", "mood": {}}]}])",
       "messages[0].content[0].mood", "is not a field"},
      {R"("messages": [{"role": "user", "content": [{"type": "text"}]}])",
       "messages[0].content[0].text", "must be a string"},
      {R"("messages": [{"role": "assistant", "tool_calls": [{"function":
          {"name": "f", "arguments": "{}", "mood": {}}}]}])",
       "messages[0].tool_calls[0].function.mood", "is not a field"},
      {hello + R"(, "chat_template_kwargs": {"add_generation_prompt": false})",
       "chat_template_kwargs.add_generation_prompt", "has a field of its own"},
      {hello + R"(, "top_logprobs": 2)", "top_logprobs", "needs logprobs"},
      {hello + R"(, "tools": [{"type": "web"}])", "tools[0]", "must be {"},
      {hello + R"(, "modalities": ["audio"])", "modalities", "must be"},
      {hello + R"(, "functions": [])", "functions", "is not a field"},
      {hello + R"(, "max_tokens": 5000)", "max_tokens", "must be in [1, "},
      {hello + R"(, "max_completion_tokens": 5000)", "max_completion_tokens",
       "max_completion_tokens is 5000, must be in [1, "},
      {R"("messages": [{"role": "user", "content": ")" +
           std::string(5000, 'a') + "\"}]",
       "messages", "max_source_tokens"},
  };
  for (const auto& c : cases) {
    const json error =
        PostJson(fixture, kPath, absl::StrCat("{", c.body, "}"), 400)["error"];
    EXPECT_EQ(error["param"], c.param) << c.body.substr(0, 100);
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(c.message));
  }
}

// One that does not end by itself.
TEST(ChatTest, ARenderingEndsWithTheDeadline) {
  HttpFixture fixture(WithTemplate(
      "{{ messages[0].content }}{% if messages[0].content == 'a' %}"
      "{% set ns = namespace(x=[], y=[]) %}{% for a in range(60) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
      "{{ ns.x == ns.y }}{% endif %}"));
  for (const char* path : {kPath, "/tokenize"}) {
    EXPECT_THAT(fixture.Post(
                    path, R"({"messages": [{"role": "user", "content": "a"}]})",
                    "X-Request-Timeout: 0.1\r\n"),
                StartsWith("HTTP/1.1 504 "))
        << path;
  }
}

// Clients cut their conversation then.
TEST(ChatTest, TooManyTokensHaveACode) {
  HttpFixture fixture(WithTemplate());
  const auto code = [&](size_t length, int max_tokens) {
    const std::string body = absl::StrCat(
        R"({"messages": [{"role": "user", "content": ")",
        std::string(length, 'a'), R"("}], "max_tokens": )", max_tokens, "}");
    return PostJson(fixture, kPath, body, 400)["error"]["code"];
  };
  for (const size_t length : {5'000, 100'000, 1'000'000}) {
    EXPECT_EQ(code(length, 1), "context_length_exceeded") << length;
  }
  EXPECT_EQ(code(1, 5000), "context_length_exceeded");
  EXPECT_EQ(code(1, 0), nullptr);
}

TEST(ChatTest, ToolsNeedATemplateThatKnowsThem) {
  HttpFixture fixture(WithTemplate("{{ messages[0].content }}"));
  const std::string tools =
      R"({"messages": [{"role": "user", "content": "a"}], "max_tokens": 1,
          "tools": [{"type": "function", "function": {"name": "f"}}])";
  EXPECT_EQ(PostJson(fixture, kPath, tools + "}", 400)["error"]["message"],
            "tools are given, but the chat template of model 'fake' knows no "
            "tools");
  PostJson(fixture, kPath, tools + R"(, "tool_choice": "none"})");
}

TEST(ChatTest, ATemplateOfNoUseRefusesConversationsOnly) {
  HttpFixture fixture(WithTemplate("a\n{% if %}"));
  const json error = PostJson(
      fixture, kPath, R"({"messages": [{"role": "user", "content": "a"}]})",
      400)["error"];
  EXPECT_THAT(error["message"].get<std::string>(),
              HasSubstr("chat_template.jinja: line 2: syntax error"));
  PostJson(fixture, "/v1/completions", R"({"prompt": "a", "max_tokens": 1})");
}

TEST(ChatTest, ModelsWithoutATemplateDoNotChat) {
  HttpFixture fixture(OpenAiFixture());
  const json error = PostJson(
      fixture, kPath, R"({"messages": [{"role": "user", "content": "a"}]})",
      400)["error"];
  EXPECT_THAT(error["message"].get<std::string>(),
              HasSubstr("does not chat: it has no chat template"));
}

}  // namespace
}  // namespace attend
