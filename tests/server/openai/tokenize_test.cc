#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/server/openai/openai_fixture.h"

namespace attend {
namespace {

using nlohmann::json;

TEST(TokenizeTest, ThereAndBack) {
  HttpFixture fixture(OpenAiFixture());
  EXPECT_EQ(PostJson(fixture, "/tokenize",
                     R"({"prompt": "ab", "return_token_strs": true})"),
            json::parse(R"({"count": 3, "max_model_len": 4096,
                            "tokens": [98, 99, 0],
                            "token_strs": ["<61>", "<62>", "</s>"]})"));
  const json bare = PostJson(
      fixture, "/tokenize", R"({"prompt": "ab", "add_special_tokens": false})");
  EXPECT_EQ(bare["tokens"], json::parse("[98, 99]"));
  EXPECT_EQ(bare["token_strs"], nullptr);
  EXPECT_EQ(PostJson(fixture, "/detokenize", R"({"tokens": [98, 99]})"),
            json::parse(R"({"prompt": "ab"})"));
}

TEST(TokenizeTest, ErrorsNameTheField) {
  HttpFixture fixture(OpenAiFixture());
  const struct {
    const char *path, *body, *param;
  } cases[] = {
      {"/tokenize", "{}", "prompt"},
      {"/tokenize",
       R"({"prompt": "a", "messages": [{"role": "user", "content": "a"}]})",
       "prompt"},
      {"/tokenize", R"({"prompt": ["a"]})", "prompt"},
      {"/tokenize", R"({"prompt": "\u0001"})", "prompt"},
      {"/tokenize",
       R"({"messages": [{"role": "user", "content": "a"}],)"
       R"( "add_special_tokens": true})",
       "add_special_tokens"},
      {"/tokenize", R"({"messages": [{"role": "user", "content": "a"}]})",
       "messages"},
      {"/tokenize",
       R"({"messages": [{"role": "user", "content": "a"}],)"
       R"( "chat_template_kwargs": {"add_generation_prompt": true}})",
       "chat_template_kwargs.add_generation_prompt"},
      {"/detokenize", "{}", "tokens"},
      {"/detokenize", R"({"tokens": ["a"]})", "tokens[0]"},
      {"/detokenize", R"({"tokens": [1000]})", "tokens"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(PostJson(fixture, c.path, c.body, 400)["error"]["param"], c.param)
        << c.body;
  }
}

}  // namespace
}  // namespace attend
