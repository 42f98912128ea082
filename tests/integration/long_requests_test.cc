// Sources that are too long for a server, and those that just fit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

std::string Golden(const std::string& name) {
  return absl::StrCat(
      "--model=model=" ATTEND_SOURCE_DIR "/tests/golden/families/", name);
}

void FillTokens(int count, v1::Input& input) {
  v1::Tokens& tokens = *input.mutable_tokens();
  tokens.clear_ids();
  for (int i = 0; i < count; ++i) tokens.add_ids(3 + i % 40);
}

v1::GenerateRequest Continue(int tokens, int new_tokens) {
  v1::GenerateRequest request;
  FillTokens(tokens, *request.add_inputs());
  request.mutable_params()->set_num_beams(1);
  request.mutable_params()->set_min_new_tokens(new_tokens);
  request.mutable_params()->set_max_new_tokens(new_tokens);
  return request;
}

// The pool has three blocks of 16 tokens: 2 layers, 5 heads of 6 in f32.
TEST(LongRequestsTest, APromptIsRefusedWithTheTokensThatFitThePool) {
  ServerProcess server(
      {Golden("llama-4x-linear-rope"), "--kv-cache-bytes=23040"});
  Client client(server.client_options());
  // The last new token is not computed.
  EXPECT_TRUE(client.Generate(Continue(44, 5)).ok());
  const absl::Status refused = client.Generate(Continue(45, 5)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(
      refused.message(),
      HasSubstr(
          "prompt has 45 tokens, 44 would fit with as many new tokens: "));
  EXPECT_THAT(refused.message(), HasSubstr("the pool has 3 (kv_cache_bytes)"));
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }));
}

TEST(LongRequestsTest, APromptIsRefusedWithTheTokensThatItsPositionsHold) {
  ServerProcess server({Golden("llama-4x-linear-rope")});
  Client client(server.client_options());
  const int limit = client.GetModel("model")->max_source_tokens();
  EXPECT_TRUE(client.Generate(Continue(limit, 1)).ok());
  EXPECT_THAT(client.Generate(Continue(limit, 2)).status().message(),
              HasSubstr("max_new_tokens is 2, must be in [1, 1]"));
  const absl::Status refused = client.Generate(Continue(limit + 1, 1)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(
      refused.message(),
      HasSubstr(absl::StrCat("inputs[0] has ", limit + 1, " tokens, limit is ",
                             limit, " (max_source_tokens)")));
}

TEST(LongRequestsTest, ASourceIsRefusedWithTheTokensThatTheEncoderTakes) {
  ServerProcess server(
      {Golden("modernbert-prompts"), "--max-source-tokens=40"});
  Client client(server.client_options());
  v1::EmbedRequest request;
  FillTokens(40, *request.add_inputs());
  EXPECT_TRUE(client.Embed(request).ok());
  FillTokens(41, *request.mutable_inputs(0));
  const absl::Status refused = client.Embed(request).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(refused.message(),
              HasSubstr("inputs[0] has 41 tokens, limit is 40"));
}

// A text of a megabyte.
TEST(LongRequestsTest, ATextIsRefusedByItsBytesOrCut) {
  Client client(SharedServer().client_options());
  v1::GenerateRequest request;
  std::string& text = *request.add_inputs()->mutable_text();
  while (text.size() < 1000000) absl::StrAppend(&text, "Dogs run. ");
  request.mutable_params()->set_max_new_tokens(1);
  const absl::Status refused = client.Generate(request).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(refused.message(),
              HasSubstr("inputs[0].text has 1000000 bytes, limit is 65536"));
  request.set_truncate(true);
  const auto cut = client.Generate(request);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_TRUE(cut->results(0).usage().truncated());
  EXPECT_EQ(cut->results(0).usage().source_tokens(), 512);
  v1::TokenizeRequest whole;
  *whole.add_texts() = text;
  EXPECT_THAT(client.Tokenize(whole).status().message(),
              HasSubstr("texts[0] has 1000000 bytes, limit is 65536"));
}

// Without HeapTrimmer some 25 to 45 MiB stay.
TEST(LongRequestsTest, MemoryOfLargeRequestsGoesBackToTheSystem) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  ServerProcess server;
  std::string large;
  while (large.size() < 10 << 20) large += "word ";
  const auto resident = [&] {
    return server.Metric("process_resident_memory_bytes");
  };
  const auto ask = [&](const std::string& text) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&, i] {
        Client client(server.client_options());
        for (int call = 0; call < 3; ++call) {
          EXPECT_EQ(client.Generate(Exactly({text}, 1)).ok(), text != large);
          EXPECT_TRUE(client.Generate(Exactly({Sentence(i)}, 5)).ok());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  ask("A dog.");
  const double before = resident();
  ask(large);
  EXPECT_TRUE(Eventually([&] { return resident() < before + (20 << 20); }))
      << before << " " << resident();
}

}  // namespace
}  // namespace attend
