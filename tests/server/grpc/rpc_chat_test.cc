// Models that continue text, and conversations with them.

#include <gmock/gmock.h>

#include <latch>
#include <string>
#include <vector>

#include "engine/tokenizer/sandbox/sandbox.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kTemplate[] =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ m.more }}"
    "{% endfor %}{{ mood }}{% if add_generation_prompt %}<you>{% endif %}";

// Before there are threads: ThreadSanitizer watches no process that was forked
// when there were.
[[maybe_unused]] const Sandbox& kProcesses = Sandbox::Shared();

// A model that continues, and "plain", one that does not.
RpcFixtureOptions Options(const std::string& chat_template = kTemplate) {
  RpcFixtureOptions options;
  options.chat_template = chat_template;
  FakeEngineOptions plain;
  plain.info.name = "plain";
  options.more_engines = {plain};
  options.engine.info.continues_source = true;
  return options;
}

v1::ChatMessage Message(const std::string& role, const std::string& content) {
  v1::ChatMessage message;
  message.set_role(role);
  message.set_content(content);
  return message;
}

v1::GenerateRequest ChatRequest(int tokens) {
  v1::GenerateRequest request;
  *request.add_inputs()->mutable_chat()->add_messages() = Message("me", "Hi");
  request.mutable_params()->set_max_new_tokens(tokens);
  return request;
}

// The only result, OK or not.
v1::GenerateResult Generate(RpcFixture& fixture,
                            const v1::GenerateRequest& request) {
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&context, request, &response);
  if (response.results_size() == 1) return response.results(0);
  v1::GenerateResult result;
  result.mutable_status()->set_code(status.error_code());
  result.mutable_status()->set_message(status.error_message());
  return result;
}

v1::TokenizeResponse Tokenize(RpcFixture& fixture,
                              const v1::TokenizeRequest& request) {
  grpc::ClientContext context;
  v1::TokenizeResponse response;
  const grpc::Status status =
      fixture.stub->Tokenize(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

TEST(RpcChatTest, AConversationIsThePrompt) {
  RpcFixture fixture(Options());
  const v1::GenerateResult result = Generate(fixture, ChatRequest(2));
  ASSERT_EQ(result.choices_size(), 1) << result.status().message();
  // "<me>Hi<you>", and no end of sequence.
  EXPECT_EQ(result.usage().source_tokens(), 11);
  EXPECT_EQ(result.choices(0).ids(0), 11 * 31);
}

TEST(RpcChatTest, AConversationHasLimits) {
  RpcFixture fixture(Options());
  v1::GenerateRequest request = ChatRequest(1);
  v1::Chat& chat = *request.mutable_inputs(0)->mutable_chat();
  for (int i = 0; i < 4096; ++i) *chat.add_messages() = Message("me", "");
  EXPECT_EQ(Generate(fixture, request).status().message(),
            "inputs[0].chat.messages has 4097 entries, limit is 4096 (for 4096 "
            "tokens)");
  chat.clear_messages();
  *chat.add_messages() = Message("me", std::string(65530, 'a'));
  chat.set_variables_json("{   }");
  EXPECT_EQ(Generate(fixture, request).status().message(),
            "inputs[0].chat has 65537 bytes, limit is 65536 (for 4096 tokens)");
}

// All threads that wait for the Sandbox do so, and no more may wait for them.
TEST(RpcChatTest, WhoNeedsNoSandboxWaitsForNobodyWhoDoes) {
  RpcFixtureOptions options = Options();
  options.rpc.max_tokenizer_queue = 1;
  RpcFixture fixture(options);
  std::latch busy(Sandbox::kProcesses), end(1);
  const auto wait = [&] {
    busy.count_down();
    end.wait();
  };
  WorkPool& pool = fixture.calls->sandbox_pool;
  for (int i = 0; i < Sandbox::kProcesses; ++i) {
    // One after the other, because one may wait.
    EXPECT_TRUE(WaitUntil([&] { return pool.Submit({}, 1, wait).ok(); }));
  }
  busy.wait();
  for (uint64_t tenant : {1, 2}) {
    EXPECT_TRUE(pool.Submit({.id = tenant}, 1, [] {}).ok());
  }

  const int refused = grpc::StatusCode::RESOURCE_EXHAUSTED;
  EXPECT_EQ(Generate(fixture, ChatRequest(1)).status().code(), refused);
  v1::GenerateRequest text = MakeRequest({"ab"}, 1);
  EXPECT_EQ(Generate(fixture, text).status().code(), 0);
  text.mutable_params()->mutable_constraint()->set_regex("a+");
  EXPECT_EQ(Generate(fixture, text).status().code(), refused);
  EXPECT_EQ(ReadStream(*fixture.stub, text).status.error_code(), refused);
  v1::TokenizeRequest words;
  words.add_texts("ab");
  EXPECT_EQ(Tokenize(fixture, words).results(0).status().code(), 0);
  *words.add_chats()->add_messages() = Message("me", "Hi");
  grpc::ClientContext context;
  v1::TokenizeResponse response;
  EXPECT_EQ(fixture.stub->Tokenize(&context, words, &response).error_code(),
            refused);
  end.count_down();
  EXPECT_TRUE(WaitUntil(
      [&] { return Generate(fixture, ChatRequest(1)).status().code() == 0; }));
}

TEST(RpcChatTest, AContinuationKeepsItsFirstSpace) {
  RpcFixture fixture(Options());
  EXPECT_EQ(Generate(fixture, ChatRequest(2)).choices(0).text(), " w341 w342");
  EXPECT_EQ(Generate(fixture, MakeRequest({"ab"}, 2)).choices(0).text(),
            Generate(fixture, MakeRequest({"cd"}, 2)).choices(0).text());
  v1::GenerateRequest plain = MakeRequest({"0123456789"}, 2);
  plain.set_model("plain");
  EXPECT_EQ(Generate(fixture, plain).choices(0).text(), "w341 w342");
}

TEST(RpcChatTest, AStreamIsTheSameText) {
  RpcFixture fixture(Options());
  v1::GenerateRequest request = ChatRequest(5);
  request.mutable_params()->add_stop_strings("2 w343");
  const StreamResult stream = ReadStream(*fixture.stub, request);
  ASSERT_TRUE(stream.status.ok()) << stream.status.error_message();
  std::string text;
  for (const v1::GenerateChunk& chunk : stream.chunks) text += chunk.text();
  EXPECT_EQ(text, " w341 w34");
  EXPECT_EQ(Generate(fixture, request).choices(0).text(), text);
}

TEST(RpcChatTest, AForcedPrefixIsContinuedToo) {
  RpcFixture fixture(Options());
  v1::GenerateRequest request;
  v1::Tokens& tokens = *request.add_inputs()->mutable_tokens();
  for (int i = 0; i < 10; ++i) tokens.add_ids(0);  // special: no text
  request.mutable_params()->set_max_new_tokens(1);
  EXPECT_EQ(Generate(fixture, request).choices(0).text(), "w310");
  request.mutable_params()->set_prefix_text("x");
  EXPECT_EQ(Generate(fixture, request).choices(0).text(), " w310");
}

TEST(RpcChatTest, APromptOfSpecialTokensIsComputed) {
  RpcFixture fixture(Options());
  EXPECT_EQ(Generate(fixture, MakeRequest({""}, 3)).choices(0).ids_size(), 3);
  v1::GenerateRequest nothing;
  nothing.add_inputs()->mutable_tokens();
  EXPECT_EQ(Generate(fixture, nothing).choices(0).ids_size(), 0);
}

TEST(RpcChatTest, FieldsAndVariablesReachTheTemplate) {
  RpcFixture fixture(Options());
  v1::TokenizeRequest request;
  request.add_texts("abc");
  v1::Chat& chat = *request.add_chats();
  *chat.add_messages() = Message("a", "1");
  *chat.add_messages() = Message("b", "2");
  chat.mutable_messages(1)->set_fields_json(R"({"more": [3]})");
  chat.set_variables_json(R"({"mood": "good"})");
  *request.add_chats() = chat;
  request.mutable_chats(1)->set_no_generation_prompt(true);
  const v1::TokenizeResponse response = Tokenize(fixture, request);
  ASSERT_EQ(response.results_size(), 3);
  EXPECT_EQ(response.results(0).ids_size(), 4);
  EXPECT_EQ(response.results(0).text(), "");
  EXPECT_EQ(response.results(1).text(), "<a>1<b>2[3]good<you>");
  EXPECT_EQ(response.results(1).ids_size(), 20);
  EXPECT_EQ(response.results(1).pieces_size(), 20);
  EXPECT_EQ(response.results(2).text(), "<a>1<b>2[3]good");
}

TEST(RpcChatTest, AModelSaysWhetherItChats) {
  RpcFixture fixture(Options());
  const auto get = [&](RpcFixture& from, const std::string& name) {
    grpc::ClientContext context;
    v1::GetModelRequest request;
    request.set_name(name);
    v1::Model model;
    EXPECT_TRUE(from.stub->GetModel(&context, request, &model).ok());
    return model;
  };
  EXPECT_TRUE(get(fixture, "").chats());
  EXPECT_TRUE(get(fixture, "").continues_source());
  EXPECT_FALSE(get(fixture, "plain").chats());
  EXPECT_FALSE(get(fixture, "plain").continues_source());
  RpcFixture without(Options(""));
  EXPECT_FALSE(get(without, "").chats());
  EXPECT_TRUE(get(without, "").continues_source());
}

void ExpectRefused(RpcFixture& fixture, const v1::GenerateRequest& request,
                   const std::string& message) {
  const v1::GenerateResult result = Generate(fixture, request);
  EXPECT_EQ(result.status().code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(result.status().message(), HasSubstr(message));
}

TEST(RpcChatTest, ModelsThatDoNotChatSayWhy) {
  RpcFixture fixture(Options(""));
  v1::GenerateRequest request = ChatRequest(1);
  ExpectRefused(fixture, request,
                "inputs[0].chat is set, but model 'fake' does not chat: it has "
                "no chat template");
  request.set_model("plain");
  ExpectRefused(fixture, request,
                "model 'plain' does not chat: it does not continue text");
}

TEST(RpcChatTest, WhatTheTemplateRefuses) {
  RpcFixture fixture(Options("\n{{ raise_exception('no ' + mood) }}"));
  v1::GenerateRequest request = ChatRequest(1);
  v1::Chat& chat = *request.mutable_inputs(0)->mutable_chat();
  chat.set_variables_json(R"({"mood": "way"})");
  // Without the file's directory.
  ExpectRefused(fixture, request,
                "inputs[0].chat: chat_template.jinja: line 2: no way");
  chat.set_variables_json("[");
  ExpectRefused(fixture, request, "inputs[0].chat: variables");
  chat.clear_messages();
  ExpectRefused(fixture, request, "inputs[0].chat: ");
}

TEST(RpcChatTest, OtherMethodsTakeNoConversation) {
  RpcFixture fixture(Options());
  grpc::ClientContext context;
  v1::EmbedRequest request;
  *request.add_inputs() = ChatRequest(1).inputs(0);
  v1::EmbedResponse response;
  const grpc::Status status = fixture.stub->Embed(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(),
              HasSubstr("only Generate and Score take conversations"));
}

TEST(RpcChatTest, ScoresWhatFollowsAConversation) {
  RpcFixture fixture(Options());
  grpc::ClientContext context;
  v1::ScoreRequest request;
  v1::ScorePair& pair = *request.add_pairs();
  *pair.mutable_source() = ChatRequest(1).inputs(0);
  pair.mutable_target()->set_text("abc");
  v1::ScoreResponse response;
  ASSERT_TRUE(fixture.stub->Score(&context, request, &response).ok());
  EXPECT_EQ(response.results(0).usage().source_tokens(), 11);
  EXPECT_EQ(response.results(0).tokens_size(), 3);  // and no end of sequence
}

}  // namespace
}  // namespace attend
