// What Embed answers, through the loopback.

#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <future>
#include <string>

#include "tests/server/grpc/rpc_encoder_calls.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(RpcEmbedTest, EmbedAnswersABatchInOrder) {
  RpcFixture fixture;
  const v1::EmbedResponse response =
      Embed(fixture, OfTexts<v1::EmbedRequest>({"ab", "", "b"}));
  EXPECT_EQ(response.model(), "fake");
  ASSERT_EQ(response.results_size(), 3);
  const v1::EmbedResult& result = response.results(0);
  // Three tokens: 98 % 7, 99 % 7, 0, each + 1 + 10 i.
  EXPECT_THAT(result.values(), ElementsAre(4, 34, 64, 94));
  EXPECT_EQ(result.width(), 4);
  EXPECT_EQ(result.data(), "");
  EXPECT_THAT(result.tokens(), IsEmpty());
  EXPECT_EQ(result.usage().source_tokens(), 3);
  EXPECT_TRUE(result.timings().has_queue());
  EXPECT_TRUE(result.timings().has_encode());
  EXPECT_TRUE(result.timings().has_total());
  // An empty text is its special tokens.
  EXPECT_THAT(response.results(1).values(), ElementsAre(1, 11, 21, 31));
  EXPECT_EQ(response.results(1).usage().source_tokens(), 1);
  EXPECT_THAT(response.results(2).values(), ElementsAre(3, 23, 43, 63));
}

TEST(RpcEmbedTest, EmbedDimensionsAndScale) {
  RpcFixture fixture;
  auto request = OfTexts<v1::EmbedRequest>({"ab"});
  request.set_dimensions(2);
  EXPECT_THAT(Embed(fixture, request).results(0).values(), ElementsAre(4, 34));
  EXPECT_EQ(Embed(fixture, request).results(0).width(), 2);
  request.set_normalize(true);  // of the fake: by the first number
  EXPECT_THAT(Embed(fixture, request).results(0).values(),
              ElementsAre(1, 8.5f));
}

TEST(RpcEmbedTest, EmbedEncodings) {
  RpcFixture fixture;
  auto request = OfTexts<v1::EmbedRequest>({"ab"});
  request.set_encoding(v1::EMBEDDING_FLOAT32);
  v1::EmbedResult result = Embed(fixture, request).results(0);
  EXPECT_THAT(result.values(), IsEmpty());
  float floats[4];
  ASSERT_EQ(result.data().size(), sizeof(floats));
  std::memcpy(floats, result.data().data(), sizeof(floats));
  EXPECT_THAT(floats, ElementsAre(4, 34, 64, 94));

  // Not a bf16: a third, which is rounded to nearest.
  request.set_normalize(true);
  request.mutable_inputs(0)->mutable_tokens()->add_ids(2);  // 3, 13, 23, 33
  request.set_encoding(v1::EMBEDDING_BFLOAT16);
  result = Embed(fixture, request).results(0);
  EXPECT_EQ(result.width(), 4);
  ASSERT_EQ(result.data().size(), 8);
  // 1 and 13 / 3 = 4.3333, between 4.3125 and 4.34375.
  EXPECT_EQ(result.data().substr(0, 4), std::string("\x80\x3f\x8b\x40", 4));
}

TEST(RpcEmbedTest, EmbedPerTokenWithOffsets) {
  RpcFixture fixture;
  auto request = OfTexts<v1::EmbedRequest>({"ab"});
  request.set_per_token(true);
  request.set_prompt_text("q:");
  v1::EmbedResult result = Embed(fixture, request).results(0);
  EXPECT_EQ(result.width(), 3);
  ASSERT_EQ(result.tokens_size(), 5);
  ASSERT_EQ(result.values_size(), 15);
  EXPECT_EQ(result.values(3 * 2 + 1), 98 % 7 + 11);
  EXPECT_EQ(result.tokens(0).piece(), "<71>");
  EXPECT_EQ(result.tokens(1).end(), 0);  // of the prompt
  EXPECT_EQ(result.tokens(3).id(), 99);
  EXPECT_EQ(result.tokens(3).begin(), 1);
  EXPECT_EQ(result.tokens(3).end(), 2);
  EXPECT_FALSE(result.tokens(3).special());
  EXPECT_TRUE(result.tokens(4).special());

  request.mutable_inputs(0)->mutable_tokens()->add_ids(5);
  request.mutable_inputs(0)->mutable_tokens()->add_ids(0);
  result = Embed(fixture, request).results(0);
  ASSERT_EQ(result.tokens_size(), 2);  // no prompt
  EXPECT_FALSE(result.tokens(0).special());
  EXPECT_TRUE(result.tokens(1).special());
}

TEST(RpcEmbedTest, EmbedPrompts) {
  RpcFixtureOptions options;
  options.engine.info.prompts = {{"query", "qq"}, {"none", ""}};
  options.engine.info.default_prompt = "query";
  RpcFixture fixture(options);
  auto request = OfTexts<v1::EmbedRequest>({"ab"});
  const auto tokens = [&] {
    return Embed(fixture, request).results(0).usage().source_tokens();
  };
  EXPECT_EQ(tokens(), 5);
  request.set_prompt_name("none");
  EXPECT_EQ(tokens(), 3);
  request.set_prompt_text("");
  EXPECT_EQ(tokens(), 3);
  request.set_prompt_text("abc");
  EXPECT_EQ(tokens(), 6);
  request.set_prompt_name("passage");
  EXPECT_EQ(ErrorOf(fixture, &Stub::Embed, request),
            "prompt_name is 'passage', the prompts of model 'fake' are: "
            "'none', 'query'");
}

// A prompt that has the name of an adapter chooses it, for texts and for ids.
TEST(RpcEmbedTest, EmbedChoosesAdapters) {
  RpcFixtureOptions options;
  options.engine.info.prompts = {
      {"retrieval.query", "q"}, {"retrieval.passage", ""}, {"other", ""}};
  options.engine.info.adapters = {"retrieval.passage", "retrieval.query"};
  RpcFixture fixture(options);
  auto request = OfTexts<v1::EmbedRequest>({"ab"});
  const auto adapter = [&] {
    const auto result = Embed(fixture, request).results(0);
    EXPECT_EQ(result.status().code(), 0) << result.status().message();
    return static_cast<int>(result.values(0)) / 1000 - 1;
  };
  EXPECT_EQ(adapter(), -1);
  request.set_role("query");
  EXPECT_EQ(adapter(), 1);
  request.set_role("document");
  EXPECT_EQ(adapter(), 0);
  request.set_prompt_name("retrieval.query");
  EXPECT_EQ(adapter(), 1);
  request.mutable_inputs(0)->mutable_tokens()->add_ids(5);
  EXPECT_EQ(adapter(), 1);
  request.set_prompt_name("other");
  EXPECT_EQ(adapter(), -1);
  request.set_prompt_text("q");
  EXPECT_EQ(adapter(), -1);
}

TEST(RpcEmbedTest, EmbedErrorsOfTheCall) {
  RpcFixture fixture;
  const auto error = [&](auto change) {
    auto request = OfTexts<v1::EmbedRequest>({"ab"});
    change(request);
    return ErrorOf(fixture, &Stub::Embed, request);
  };
  EXPECT_THAT(error([](auto& r) { r.set_dimensions(5); }),
              HasSubstr("dimensions is 5, must be in [0, 4]"));
  EXPECT_THAT(error([](auto& r) { r.set_dimensions(-1); }),
              HasSubstr("dimensions is -1"));
  EXPECT_THAT(
      error([](auto& r) {
        r.set_per_token(true);
        r.set_normalize(false);
      }),
      HasSubstr("normalize is set, must be unset if per_token is true"));
  EXPECT_THAT(error([](auto& r) {
                r.set_encoding(static_cast<v1::EmbeddingEncoding>(9));
              }),
              HasSubstr("encoding is 9"));
  EXPECT_THAT(
      error([](auto& r) { r.set_prompt_name("x"); }),
      HasSubstr("prompt_name is 'x', the prompts of model 'fake' are: none"));
  EXPECT_THAT(error([](auto& r) { r.set_priority(11); }),
              HasSubstr("priority"));
  EXPECT_THAT(error([](auto& r) { r.clear_inputs(); }),
              HasSubstr("inputs has 0 entries"));
}

TEST(RpcEmbedTest, AnInputFailsAlone) {
  RpcFixtureOptions options;
  options.engine.info.max_source_tokens = 4;
  RpcFixture fixture(options);
  auto request = OfTexts<v1::EmbedRequest>({"ab", "abcd", "\x01", "ab", "ab"});
  request.mutable_inputs(3)->set_pair("x");
  request.mutable_inputs(4)->mutable_tokens();
  v1::EmbedResponse response = Embed(fixture, request);
  EXPECT_EQ(response.results(0).status().code(), 0);
  EXPECT_EQ(response.results(1).status().message(),
            "inputs[1] has 5 tokens, limit is 4 (max_source_tokens)");
  EXPECT_EQ(response.results(2).status().message(),
            "inputs[2].text: text has 0x01");
  EXPECT_EQ(response.results(3).status().message(),
            "inputs[3].pair is set, but only Classify takes pairs");
  EXPECT_EQ(response.results(4).status().message(),
            "inputs[4] has no tokens, must have one");
  EXPECT_THAT(response.results(1).values(), IsEmpty());

  request.set_truncate(true);
  response = Embed(fixture, request);
  EXPECT_EQ(response.results(1).status().code(), 0);
  EXPECT_TRUE(response.results(1).usage().truncated());
  EXPECT_EQ(response.results(1).usage().source_tokens(), 4);
}

TEST(RpcEmbedTest, TextsHaveALimitOfTheirOwn) {
  RpcFixtureOptions options;
  options.engine.info.max_text_tokens = 3;
  RpcFixture fixture(options);
  auto request = OfTexts<v1::EmbedRequest>({"ab", "abc", ""});
  for (int i = 0; i < 4; ++i) {
    request.mutable_inputs(2)->mutable_tokens()->add_ids(5);
  }
  v1::EmbedResponse response = Embed(fixture, request);
  EXPECT_EQ(response.results(0).status().code(), 0);
  EXPECT_EQ(response.results(1).status().message(),
            "inputs[1] has 4 tokens, limit is 3 (max_text_tokens)");
  EXPECT_EQ(response.results(2).status().code(), 0);
  request.set_truncate(true);
  response = Embed(fixture, request);
  EXPECT_EQ(response.results(1).usage().source_tokens(), 3);
}

TEST(RpcEmbedTest, PerTokenIsLimited) {
  RpcFixtureOptions options;
  options.engine.info.token_width = 1 << 25;  // 128 MiB a token
  RpcFixture fixture(options);
  auto request = OfTexts<v1::EmbedRequest>({"abc"});
  request.set_per_token(true);
  EXPECT_THAT(ErrorOf(fixture, &Stub::Embed, request),
              HasSubstr("limit of a call is 268435456 (max_call_bytes)"));
}

TEST(RpcEmbedTest, CancelAndDeadline) {
  RpcFixtureOptions options;
  options.engine.allowed_steps = 0;
  RpcFixture fixture(options);
  grpc::ClientContext context;
  auto call = std::async(std::launch::async, [&] {
    v1::EmbedResponse response;
    return fixture.stub->Embed(&context, OfTexts<v1::EmbedRequest>({"ab"}),
                               &response);
  });
  fixture.engine.WaitUntilBlocked();
  context.TryCancel();
  EXPECT_EQ(call.get().error_code(), grpc::StatusCode::CANCELLED);

  grpc::ClientContext late;
  late.set_deadline(std::chrono::system_clock::now() - std::chrono::seconds(1));
  v1::EmbedResponse response;
  EXPECT_EQ(
      fixture.stub->Embed(&late, OfTexts<v1::EmbedRequest>({"ab"}), &response)
          .error_code(),
      grpc::StatusCode::DEADLINE_EXCEEDED);
  fixture.engine.OpenGate();
  fixture.WaitUntilFree();
}

TEST(RpcEmbedTest, FailedStepsAndMetrics) {
  RpcFixture fixture;
  fixture.engine.FailNextStep(absl::InternalError("broken"));
  v1::EmbedResponse response;
  const grpc::Status status =
      Call(fixture, &Stub::Embed, OfTexts<v1::EmbedRequest>({"ab"}), response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  Embed(fixture, OfTexts<v1::EmbedRequest>({"ab"}));
  const std::string metrics = fixture.metrics.Serialize();
  EXPECT_THAT(metrics, HasSubstr("method=\"Embed\""));
  // Nobody has called it.
  EXPECT_THAT(metrics, Not(HasSubstr("method=\"FillMask\"")));
}

}  // namespace
}  // namespace attend
