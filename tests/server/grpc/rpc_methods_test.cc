// What each method answers, through the loopback.

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/fake_results.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What the fake generates from `text`.
std::vector<int> Expected(const std::string& text, int tokens) {
  const int source = static_cast<int>(text.size()) + 1;
  std::vector<int> ids;
  for (int i = 0; i < tokens; ++i) ids.push_back(FakeToken(source, i));
  return ids;
}

TEST(RpcMethodsTest, GenerateAnswersABatchInOrder) {
  RpcFixture fixture;
  grpc::ClientContext context;
  v1::GenerateResponse response;
  v1::GenerateRequest request = MakeRequest({"abc", "abcdefgh"}, 3);
  request.mutable_params()->set_log_probs(true);
  ASSERT_TRUE(fixture.stub->Generate(&context, request, &response).ok());
  EXPECT_EQ(response.model(), "fake");
  ASSERT_EQ(response.results_size(), 2);
  const v1::GenerateResult& result = response.results(1);
  EXPECT_EQ(result.status().code(), 0);
  ASSERT_EQ(result.choices_size(), 1);
  const v1::Choice& choice = result.choices(0);
  EXPECT_EQ(std::vector<int>(choice.ids().begin(), choice.ids().end()),
            Expected("abcdefgh", 3));
  EXPECT_EQ(choice.text(), "w279 w280 w281");
  EXPECT_EQ(choice.finish_reason(), v1::FINISH_REASON_MAX_LENGTH);
  ASSERT_EQ(choice.log_probs_size(), 3);
  EXPECT_EQ(choice.log_probs(0).token().id(), 279);
  EXPECT_EQ(choice.log_probs(0).token().piece(), " w279");
  EXPECT_EQ(choice.log_probs(0).token().log_prob(), -1);
  EXPECT_EQ(result.usage().source_tokens(), 9);
  EXPECT_EQ(result.usage().generated_tokens(), 3);
  EXPECT_TRUE(result.timings().has_queue());
  EXPECT_TRUE(result.timings().has_encode());
  EXPECT_TRUE(result.timings().has_first_token());
  EXPECT_TRUE(result.timings().has_total());
}

// Ids, text and log-probabilities of every choice, from chunks.
std::map<std::pair<int, int>, v1::Choice> Join(
    const std::vector<v1::GenerateChunk>& chunks) {
  std::map<std::pair<int, int>, v1::Choice> choices;
  for (const v1::GenerateChunk& chunk : chunks) {
    v1::Choice& choice = choices[{chunk.input(), chunk.choice()}];
    EXPECT_EQ(choice.finish_reason(), v1::FINISH_REASON_UNSPECIFIED)
        << "a chunk after the last one";
    choice.mutable_ids()->MergeFrom(chunk.ids());
    choice.mutable_text()->append(chunk.text());
    choice.mutable_log_probs()->MergeFrom(chunk.log_probs());
    choice.set_finish_reason(chunk.finish_reason());
    choice.set_score(chunk.score());
  }
  return choices;
}

TEST(RpcMethodsTest, ChunksJoinedAreTheUnaryAnswer) {
  RpcFixture fixture;
  // The lengths move the fake's tokens over bytes, words and both; 38 tokens
  // give "w180"-like words, 3 and 6 give broken characters.
  v1::GenerateRequest request = MakeRequest(
      {"ab", "abcde", std::string(37, 'a'), std::string(7, 'a'), ""}, 60);
  request.mutable_params()->set_do_sample(true);
  request.mutable_params()->set_num_return_sequences(3);
  request.mutable_params()->set_log_probs(true);
  request.mutable_params()->add_stop_strings(" w290 w291");
  request.mutable_params()->add_stop_strings("ghij");
  request.mutable_params()->set_seed(4);
  grpc::ClientContext context;
  v1::GenerateResponse response;
  ASSERT_TRUE(fixture.stub->Generate(&context, request, &response).ok());
  const StreamResult stream = ReadStream(*fixture.stub, request);
  ASSERT_TRUE(stream.status.ok());
  auto joined = Join(stream.chunks);
  ASSERT_EQ(joined.size(), 15u);
  int statuses = 0;
  for (const v1::GenerateChunk& chunk : stream.chunks) {
    statuses += chunk.has_status();
  }
  EXPECT_EQ(statuses, 5);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(response.results(i).choices_size(), 3);
    for (int c = 0; c < 3; ++c) {
      EXPECT_EQ(joined[(std::pair(i, c))].SerializeAsString(),
                response.results(i).choices(c).SerializeAsString())
          << i << ' ' << c;
    }
  }
}

TEST(RpcMethodsTest, OneBadInputOfABatchFailsAlone) {
  RpcFixture fixture;
  const v1::GenerateRequest request = MakeRequest({"abc", "\x01", "d"}, 2);
  grpc::ClientContext context;
  v1::GenerateResponse response;
  ASSERT_TRUE(fixture.stub->Generate(&context, request, &response).ok());
  EXPECT_EQ(response.results(0).status().code(), 0);
  EXPECT_EQ(response.results(1).status().code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(response.results(1).status().message(),
              HasSubstr("inputs[1].text"));
  EXPECT_EQ(response.results(1).choices_size(), 0);
  EXPECT_EQ(response.results(2).status().code(), 0);

  const StreamResult stream = ReadStream(*fixture.stub, request);
  ASSERT_TRUE(stream.status.ok());
  std::map<int, int> codes;
  for (const v1::GenerateChunk& chunk : stream.chunks) {
    if (chunk.has_status()) codes[chunk.input()] = chunk.status().code();
  }
  EXPECT_EQ(codes,
            (std::map<int, int>{{0, 0}, {1, grpc::INVALID_ARGUMENT}, {2, 0}}));
}

TEST(RpcMethodsTest, ACallFailsIfAllItsInputsDo) {
  RpcFixture fixture;
  const v1::GenerateRequest request = MakeRequest({"\x01", "\x01"}, 2);
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("inputs[0].text"));
  const StreamResult stream = ReadStream(*fixture.stub, request);
  EXPECT_EQ(stream.status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_TRUE(stream.chunks.empty());
}

TEST(RpcMethodsTest, EmptyInputIsAnsweredNotComputed) {
  RpcFixture fixture;
  grpc::ClientContext context;
  v1::GenerateResponse response;
  ASSERT_TRUE(
      fixture.stub->Generate(&context, MakeRequest({""}, 5), &response).ok());
  ASSERT_EQ(response.results(0).choices_size(), 1);
  EXPECT_EQ(response.results(0).status().code(), 0);
  EXPECT_EQ(response.results(0).choices(0).text(), "");
  EXPECT_EQ(response.results(0).choices(0).finish_reason(),
            v1::FINISH_REASON_EOS);
  EXPECT_EQ(fixture.engine.steps(), 0);
}

TEST(RpcMethodsTest, TheSeedIsDrawnAndEchoed) {
  RpcFixture fixture;
  v1::GenerateRequest request = MakeRequest({"a", "b"}, 2);
  request.mutable_params()->set_do_sample(true);
  v1::GenerateResponse drawn, given;
  grpc::ClientContext first, second;
  ASSERT_TRUE(fixture.stub->Generate(&first, request, &drawn).ok());
  EXPECT_NE(drawn.results(0).usage().seed(), drawn.results(1).usage().seed());
  request.mutable_params()->set_seed(7);
  ASSERT_TRUE(fixture.stub->Generate(&second, request, &given).ok());
  EXPECT_EQ(given.results(0).usage().seed(), 7u);
}

TEST(RpcMethodsTest, ScoreGivesEachTokenItsLogProbability) {
  RpcFixture fixture;
  v1::ScoreRequest request;
  auto* pair = request.add_pairs();
  pair->mutable_source()->set_text("abc");
  pair->mutable_target()->set_text("de");
  request.add_pairs()->mutable_source()->set_text("no target");
  grpc::ClientContext context;
  v1::ScoreResponse response;
  ASSERT_TRUE(fixture.stub->Score(&context, request, &response).ok());
  ASSERT_EQ(response.results_size(), 2);
  ASSERT_EQ(response.results(0).tokens_size(), 3);
  EXPECT_EQ(response.results(0).tokens(2).token().piece(), "</s>");
  EXPECT_EQ(response.results(0).log_prob(), -3);
  EXPECT_EQ(response.results(0).usage().source_tokens(), 4);
  EXPECT_EQ(response.results(1).status().code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(response.results(1).status().message(),
              HasSubstr("pairs[1].target is not set"));
}

TEST(RpcMethodsTest, TokenizeAndDetokenizeAreInverse) {
  RpcFixture fixture;
  v1::TokenizeRequest request;
  request.add_texts("h\xc3\xbc");
  request.add_texts("\x01");
  v1::TokenizeResponse tokens;
  grpc::ClientContext first, second;
  ASSERT_TRUE(fixture.stub->Tokenize(&first, request, &tokens).ok());
  EXPECT_THAT(tokens.results(0).ids(), ElementsAre(105, 196, 189, 0));
  EXPECT_THAT(tokens.results(0).pieces(),
              ElementsAre("<68>", "<c3>", "<bc>", "</s>"));
  EXPECT_EQ(tokens.results(1).status().code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(tokens.results(1).status().message(), HasSubstr("texts[1]"));

  v1::DetokenizeRequest back;
  back.set_side(v1::SIDE_TARGET);
  *back.add_sequences()->mutable_ids() = tokens.results(0).ids();
  back.add_sequences()->add_ids(1000);
  v1::DetokenizeResponse texts;
  ASSERT_TRUE(fixture.stub->Detokenize(&second, back, &texts).ok());
  EXPECT_EQ(texts.results(0).text(), "h\xc3\xbc");
  EXPECT_THAT(texts.results(1).status().message(),
              HasSubstr("sequences[1].ids[0] is 1000"));
}

TEST(RpcMethodsTest, ModelsAreDescribedWithTheirDefaults) {
  RpcFixture fixture;
  v1::ListModelsResponse models;
  v1::Model model;
  grpc::ClientContext first, second;
  ASSERT_TRUE(fixture.stub->ListModels(&first, {}, &models).ok());
  ASSERT_TRUE(fixture.stub->GetModel(&second, {}, &model).ok());
  ASSERT_EQ(models.models_size(), 1);
  EXPECT_EQ(models.models(0).SerializeAsString(), model.SerializeAsString());
  EXPECT_EQ(model.name(), "fake");
  EXPECT_TRUE(model.ready());
  EXPECT_EQ(model.max_beams(), 8);
  EXPECT_TRUE(model.defaults().has_top_k());
}

// Calls `method` with `request` and returns its status.
template <class Request, class Response>
grpc::Status CallUnary(RpcFixture& fixture,
                       grpc::Status (v1::Attend::Stub::*method)(
                           grpc::ClientContext*, const Request&, Response*),
                       const Request& request) {
  grpc::ClientContext context;
  Response response;
  return (fixture.stub.get()->*method)(&context, request, &response);
}

TEST(RpcMethodsTest, EveryMethodKnowsItsModel) {
  RpcFixture fixture;
  v1::GenerateRequest generate = MakeRequest({"a"}, 1);
  generate.set_model("other\n");
  v1::ScoreRequest score;
  score.set_model("other");
  v1::TokenizeRequest tokenize;
  tokenize.set_model("other");
  v1::DetokenizeRequest detokenize;
  detokenize.set_model("other");
  v1::GetModelRequest get;
  get.set_name("other");
  using Stub = v1::Attend::Stub;
  const grpc::Status statuses[] = {
      CallUnary(fixture, &Stub::Generate, generate),
      ReadStream(*fixture.stub, generate).status,
      CallUnary(fixture, &Stub::Score, score),
      CallUnary(fixture, &Stub::Tokenize, tokenize),
      CallUnary(fixture, &Stub::Detokenize, detokenize),
      CallUnary(fixture, &Stub::GetModel, get),
  };
  for (const grpc::Status& status : statuses) {
    EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
    EXPECT_THAT(status.error_message(), HasSubstr("model 'other"));
  }
  EXPECT_THAT(statuses[0].error_message(), HasSubstr("'other\\n'"));
}

// Malformed input of the fields that concern a whole request; those of an
// input and of the parameters have tables of their own.
TEST(RpcMethodsTest, EveryMethodChecksItsFields) {
  RpcFixtureOptions options;
  options.rpc.max_batch_inputs = 2;
  RpcFixture fixture(options);
  using Stub = v1::Attend::Stub;
  std::vector<std::pair<grpc::Status, const char*>> cases;
  const auto generate = [&](auto change, const char* message) {
    v1::GenerateRequest request = MakeRequest({"a"}, 1);
    change(request);
    cases.push_back({CallUnary(fixture, &Stub::Generate, request), message});
    cases.push_back({ReadStream(*fixture.stub, request).status, message});
  };
  generate([](auto& r) { r.clear_inputs(); }, "inputs has 0 entries");
  generate(
      [](auto& r) {
        for (int i = 0; i < 2; ++i) r.add_inputs()->set_text("b");
      },
      "inputs has 3 entries, must be 1 to 2");
  generate([](auto& r) { r.set_priority(11); }, "priority is 11");
  generate([](auto& r) { r.mutable_params()->set_num_beams(9); },
           "params.num_beams is 9");
  const auto score = [&](auto change, const char* message) {
    v1::ScoreRequest request;
    request.add_pairs()->mutable_source()->set_text("a");
    request.mutable_pairs(0)->mutable_target()->set_text("b");
    change(request);
    cases.push_back({CallUnary(fixture, &Stub::Score, request), message});
  };
  score([](auto& r) { r.clear_pairs(); }, "pairs has 0 entries");
  score([](auto& r) { r.set_priority(-11); }, "priority is -11");
  score([](auto& r) { r.set_top_log_probs(21); }, "top_log_probs is 21");
  score([](auto& r) { r.mutable_pairs(0)->clear_source(); },
        "pairs[0].source is not set");
  score([](auto& r) { r.mutable_pairs(0)->mutable_source()->mutable_tokens(); },
        "pairs[0].source has no tokens");
  score([](auto& r) { r.mutable_pairs(0)->mutable_target()->mutable_tokens(); },
        "pairs[0].target has 0 tokens");
  score(
      [](auto& r) {
        r.mutable_pairs(0)->mutable_target()->set_text(std::string(4096, 'a'));
      },
      "pairs[0].target has 4097 tokens, must be 1 to 4096");
  v1::TokenizeRequest tokenize;
  cases.push_back({CallUnary(fixture, &Stub::Tokenize, tokenize),
                   "texts and chats has 0 entries"});
  tokenize.add_texts("a");
  tokenize.set_side(static_cast<v1::Side>(2));
  cases.push_back({CallUnary(fixture, &Stub::Tokenize, tokenize),
                   "side is 2, must be 0 (source) or 1 (target)"});
  v1::DetokenizeRequest detokenize;
  cases.push_back({CallUnary(fixture, &Stub::Detokenize, detokenize),
                   "sequences has 0 entries"});
  detokenize.add_sequences()->add_attention_mask(1);
  cases.push_back({CallUnary(fixture, &Stub::Detokenize, detokenize),
                   "sequences[0].attention_mask has 1 values"});
  detokenize.set_side(static_cast<v1::Side>(-1));
  cases.push_back(
      {CallUnary(fixture, &Stub::Detokenize, detokenize), "side is -1"});
  for (const auto& [status, message] : cases) {
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT) << message;
    EXPECT_THAT(status.error_message(), HasSubstr(message));
  }
  EXPECT_EQ(fixture.engine.steps(), 0);
}

TEST(RpcMethodsTest, TheRequestIdIsEchoedOrMade) {
  RpcFixture fixture;
  for (const char* wanted : {"abc-1", "not allowed"}) {
    grpc::ClientContext context;
    context.AddMetadata("x-request-id", wanted);
    v1::ListModelsResponse response;
    ASSERT_TRUE(fixture.stub->ListModels(&context, {}, &response).ok());
    const auto& metadata = context.GetServerInitialMetadata();
    const auto id = metadata.find("x-request-id");
    ASSERT_NE(id, metadata.end());
    const std::string got(id->second.data(), id->second.size());
    EXPECT_EQ(got == wanted, got == "abc-1");
    EXPECT_FALSE(got.empty());
  }
}

}  // namespace
}  // namespace attend
