#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "server/openai/openai_api.h"
#include "tests/server/openai/openai_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPath[] = "/v1/completions";

TEST(CompletionsTest, TheWholeAnswer) {
  HttpFixture fixture(OpenAiFixture());
  const json answer = PostJson(
      fixture, kPath,
      R"({"model": "fake", "prompt": "abc", "max_tokens": 3, "temperature": 0})");
  EXPECT_THAT(answer["id"].get<std::string>(), StartsWith("cmpl-"));
  EXPECT_EQ(answer["object"], "text_completion");
  EXPECT_EQ(answer["model"], "fake");
  EXPECT_EQ(answer["choices"],
            json::parse(R"([{"index": 0, "text": "{|}", "logprobs": null,
                             "finish_reason": "length"}])"));
  EXPECT_EQ(answer["usage"],
            json::parse(R"({"prompt_tokens": 4, "completion_tokens": 3,
                            "total_tokens": 7})"));
  fixture.ExpectCounted(R"(code="OK",method="/v1/completions",model="fake")");
}

TEST(CompletionsTest, ABatchThatHasBegunIsComputedWhileTheServerDrains) {
  HttpFixtureOptions options = OpenAiFixture();
  options.engines[0].allowed_steps = 0;
  options.scheduler.max_running = 1;
  HttpFixture fixture(std::move(options));
  constexpr char kBatch[] =
      R"({"prompt": ["a", "b", "c", "d", "e", "f", "g", "h"], "max_tokens": 2})";
  json answer;
  std::thread client([&] { answer = PostJson(fixture, kPath, kBatch); });
  fixture.engine().WaitUntilBlocked();
  fixture.calls->Drain();
  PostJson(fixture, kPath, kBatch, /*status=*/503);
  fixture.OpenGates();
  client.join();
  EXPECT_EQ(answer["choices"].size(), 8u) << answer;
  EXPECT_EQ(answer["usage"]["completion_tokens"], 16);
}

TEST(CompletionsTest, PromptsOfAllKindsAndCopies) {
  HttpFixture fixture(OpenAiFixture());
  for (const char* prompt :
       {R"(["abc", "abc"])", "[[98, 99, 100, 0], [98, 99, 100, 0]]"}) {
    const json answer = PostJson(
        fixture, kPath,
        absl::StrCat(
            R"({"max_tokens": 2, "n": 2, "temperature": 0, "prompt": )", prompt,
            "}"));
    ASSERT_EQ(answer["choices"].size(), 4u) << answer;
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(answer["choices"][i]["index"], i);
      EXPECT_EQ(answer["choices"][i]["text"], "{|");
    }
    EXPECT_EQ(answer["usage"]["prompt_tokens"], 8);
    EXPECT_EQ(answer["usage"]["completion_tokens"], 8);
  }
  EXPECT_EQ(
      PostJson(fixture, kPath,
               R"({"max_tokens": 2, "prompt": [98, 99, 100, 0]})")["choices"][0]
                                                                  ["text"],
      "{|");
}

TEST(CompletionsTest, EchoAndLogProbs) {
  HttpFixture fixture(OpenAiFixture());
  const json answer = PostJson(fixture, kPath,
                               R"({"prompt": "abc", "max_tokens": 1,
                                   "temperature": 0, "echo": true,
                                   "logprobs": 1})");
  const json& choice = answer["choices"][0];
  EXPECT_EQ(choice["text"], "abc{");
  const json& probs = choice["logprobs"];
  EXPECT_EQ(probs["tokens"], json::parse(R"(["a", "b", "c", "</s>", "{"])"));
  EXPECT_EQ(probs["text_offset"], json::parse("[0, 1, 2, 3, 7]"));
  ASSERT_EQ(probs["token_logprobs"].size(), 5u);
  EXPECT_EQ(probs["token_logprobs"][0], nullptr);
  EXPECT_EQ(probs["top_logprobs"][0], nullptr);
  for (int i = 1; i < 5; ++i) {
    EXPECT_LT(probs["token_logprobs"][i], 0);
    EXPECT_EQ(probs["top_logprobs"][i][probs["tokens"][i]],
              probs["token_logprobs"][i]);
  }
  // Parts of a character have names of their own.
  const json parts = PostJson(fixture, kPath,
                              R"({"prompt": "\u00e9", "max_tokens": 1,
                                  "temperature": 0, "echo": true,
                                  "logprobs": 1})")["choices"][0];
  const json& part_probs = parts["logprobs"];
  EXPECT_EQ(part_probs["tokens"][0], "bytes:\\xc3");
  EXPECT_EQ(part_probs["tokens"][1], "bytes:\\xa9");
  EXPECT_EQ(part_probs["top_logprobs"][1]["bytes:\\xa9"],
            part_probs["token_logprobs"][1]);
  // Without new tokens: the prompt alone.
  const json prompt = PostJson(fixture, kPath,
                               R"({"prompt": "abc", "max_tokens": 0,
                                   "temperature": 0, "echo": true,
                                   "logprobs": 1})");
  EXPECT_EQ(prompt["choices"][0]["text"], "abc");
  EXPECT_EQ(prompt["choices"][0]["logprobs"]["tokens"].size(), 4u);
  EXPECT_EQ(prompt["usage"]["completion_tokens"], 0);
}

TEST(CompletionsTest, Streams) {
  HttpFixture fixture(OpenAiFixture());
  const std::vector<json> events = PostEvents(
      fixture, kPath,
      R"({"prompt": ["abc", "d"], "max_tokens": 2, "n": 2, "temperature": 0,
          "echo": true, "stream": true,
          "stream_options": {"include_usage": true}})");
  std::vector<std::string> texts(4);
  std::vector<int> ends(4);
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    ASSERT_EQ(events[i]["choices"].size(), 1u);
    const json& choice = events[i]["choices"][0];
    texts.at(choice["index"]) += choice["text"];
    ends.at(choice["index"]) += choice["finish_reason"] == "length";
    EXPECT_EQ(events[i]["usage"], nullptr);
    EXPECT_EQ(events[i]["object"], "text_completion");
  }
  EXPECT_THAT(texts, ElementsAre("abc{|", "abc{|", "d=>", "d=>"));
  EXPECT_THAT(ends, ElementsAre(1, 1, 1, 1));
  EXPECT_TRUE(events.back()["choices"].empty());
  EXPECT_EQ(events.back()["usage"]["total_tokens"], 4 + 2 + 8);
}

// The stream has begun before its first token, so an error is an event.
TEST(CompletionsTest, AnErrorBeforeTheFirstTokenIsAnEvent) {
  HttpFixtureOptions options = OpenAiFixture();
  options.engines[0].allowed_steps = 0;
  options.http.stream_keepalive = absl::Milliseconds(50);
  HttpFixture fixture(std::move(options));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  ASSERT_TRUE(client.Send(HttpFixture::PostText(
      kPath, R"({"prompt": "abc", "max_tokens": 2, "stream": true})")));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"),
              HasSubstr("Content-Type: text/event-stream"));
  EXPECT_EQ(client.ReadChunk(), ": keep-alive\n");
  fixture.calls->Cut();
  fixture.OpenGates();
  std::string part;
  while ((part = client.ReadChunk()) == ": keep-alive\n") {
  }
  ASSERT_TRUE(absl::StartsWith(part, "data: ")) << part;
  EXPECT_EQ(json::parse(part.substr(6))["error"]["type"], "server_error");
  EXPECT_EQ(client.ReadChunk(), "");
}

TEST(CompletionsTest, ErrorsNameFieldValueAndLimit) {
  HttpFixture fixture(OpenAiFixture());
  const struct {
    const char *body, *param, *message;
  } cases[] = {
      {R"({"max_tokens": 1})", "prompt", "prompt is absent, must be there"},
      {R"({"prompt": []})", "prompt", "and not empty"},
      {R"({"prompt": 7})", "prompt", "prompt is 7, must be a string, a list"},
      {R"({"prompt": ["a", 7]})", "prompt[1]",
       "prompt[1] is 7, must be a string"},
      {R"({"prompt": [1000]})", "prompt",
       "prompt[0].tokens.ids[0] is 1000, must be in [0, 1000)"},
      {R"({"prompt": "a", "max_tokens": 0})", "max_tokens",
       "max_tokens is 0, must be 1 or more without echo"},
      {R"({"prompt": "a", "max_completion_tokens": 0})",
       "max_completion_tokens",
       "max_completion_tokens is 0, must be 1 or more without echo"},
      {R"({"prompt": "a", "max_tokens": -2})", "max_tokens",
       "max_tokens is -2, must be an integer in [-1, "},
      {R"({"prompt": "a", "max_tokens": -1, "ignore_eos": true})", "ignore_eos",
       "ignore_eos is true, needs max_tokens"},
      {R"({"prompt": "a", "max_tokens": 9999})", "max_tokens",
       "max_tokens is 9999, must be in [1, 4095]"},
      {R"({"prompt": "a", "logprobs": 21})", "logprobs",
       "logprobs is 21, must be an integer in [0, 20]"},
      {R"({"prompt": "a", "top_p": -1})", "top_p", "top_p is -1, must be a"},
      {R"({"prompt": "a", "suffix": "b"})", "suffix",
       "suffix is not a field that this server knows here"},
      {R"({"prompt": "a", "n": 100})", "n", "n is 100, must be in [1, 8]"},
  };
  for (const auto& c : cases) {
    const json error = PostJson(fixture, kPath, c.body, 400)["error"];
    EXPECT_EQ(error["param"], c.param) << c.body;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(c.message));
    EXPECT_EQ(error["type"], "invalid_request_error");
  }
}

// Models that do not continue text translate and the like.
TEST(CompletionsTest, OfTranslators) {
  HttpFixtureOptions options = OpenAiFixture();
  options.engines[0].info.continues_source = false;
  options.engines[0].info.generation.max_new_tokens = 20;
  HttpFixture fixture(std::move(options));
  const json answer = PostJson(fixture, kPath, R"({"prompt": "abc"})");
  EXPECT_EQ(answer["usage"]["completion_tokens"], 20);
  EXPECT_EQ(
      PostJson(fixture, kPath,
               R"({"prompt": "abc", "max_tokens": -1})")["usage"]
                                                        ["completion_tokens"],
      20);
  EXPECT_EQ(PostJson(fixture, kPath, R"({"prompt": "abc", "echo": true})",
                     400)["error"]["param"],
            "echo");
}

}  // namespace
}  // namespace attend
