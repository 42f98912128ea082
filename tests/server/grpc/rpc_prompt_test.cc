// Prompts in the answers of models that continue them: echo, and
// log-probabilities of their tokens.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/fake_results.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RpcFixtureOptions Options() {
  RpcFixtureOptions options;
  options.engine.info.continues_source = true;
  FakeEngineOptions plain;
  plain.info.name = "plain";
  options.more_engines = {plain};
  return options;
}

v1::GenerateRequest Request(const std::vector<std::string>& texts, bool echo,
                            bool log_probs) {
  v1::GenerateRequest request = MakeRequest(texts, 3);
  request.mutable_params()->set_echo(echo);
  request.mutable_params()->set_prompt_log_probs(log_probs);
  return request;
}

v1::GenerateResponse Generate(RpcFixture& fixture,
                              const v1::GenerateRequest& request) {
  grpc::ClientContext context;
  v1::GenerateResponse response;
  const grpc::Status status =
      fixture.stub->Generate(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

// "ab" is the ids 'a' + 1 and 'b' + 1, then end of sequence, which the fake
// tokenizer adds.
TEST(RpcPromptTest, EchoIsIdsAndText) {
  RpcFixture fixture(Options());
  const v1::GenerateResult result =
      Generate(fixture, Request({"ab"}, true, false)).results(0);
  EXPECT_EQ(result.prompt().text(), "ab");
  EXPECT_THAT(result.prompt().ids(), ElementsAre(98, 99, 0));
  EXPECT_EQ(result.prompt().log_probs_size(), 0);
  EXPECT_EQ(result.choices(0).text(), "\\]^");
}

TEST(RpcPromptTest, LogProbsAreOfEachTokenButTheFirst) {
  RpcFixture fixture(Options());
  v1::GenerateRequest request = Request({"ab"}, false, true);
  request.mutable_params()->set_top_log_probs(2);
  const v1::Prompt prompt = Generate(fixture, request).results(0).prompt();
  EXPECT_EQ(prompt.text(), "");
  EXPECT_EQ(prompt.ids_size(), 0);
  ASSERT_EQ(prompt.log_probs_size(), 3);
  const v1::TokenLogProbs& first = prompt.log_probs(0);
  EXPECT_EQ(first.token().id(), 98);
  EXPECT_EQ(first.token().piece(), "<61>");
  EXPECT_EQ(first.token().log_prob(), 0);
  EXPECT_EQ(first.top_size(), 0);
  const v1::TokenLogProbs& second = prompt.log_probs(1);
  EXPECT_EQ(second.token().id(), 99);
  EXPECT_EQ(second.token().log_prob(), FakePromptLogProb(0));
  ASSERT_EQ(second.top_size(), 2);
  EXPECT_EQ(second.top(1).id(), 100);
  EXPECT_EQ(second.top(1).log_prob(), FakePromptLogProb(0) - 1);
  EXPECT_EQ(prompt.log_probs(2).token().log_prob(), FakePromptLogProb(1));
}

TEST(RpcPromptTest, AForcedPrefixIsOfThePrompt) {
  RpcFixture fixture(Options());
  v1::GenerateRequest request = Request({"ab"}, true, true);
  request.mutable_params()->set_prefix_text("xy");
  const v1::GenerateResult result = Generate(fixture, request).results(0);
  EXPECT_EQ(result.prompt().text(), "abxy");
  EXPECT_THAT(result.prompt().ids(), ElementsAre(98, 99, 0, 121, 122));
  EXPECT_EQ(result.prompt().log_probs_size(), 5);
  EXPECT_EQ(result.prompt().log_probs(4).token().log_prob(),
            FakePromptLogProb(3));
}

TEST(RpcPromptTest, NobodyGetsOneUnasked) {
  RpcFixture fixture(Options());
  const v1::GenerateRequest request = Request({"ab", "cd"}, false, false);
  EXPECT_FALSE(Generate(fixture, request).results(0).has_prompt());
  for (const v1::GenerateChunk& chunk :
       ReadStream(*fixture.stub, request).chunks) {
    EXPECT_FALSE(chunk.has_prompt());
  }
}

TEST(RpcPromptTest, AStreamBeginsWithIt) {
  RpcFixture fixture(Options());
  for (int asked = 1; asked < 4; ++asked) {
    v1::GenerateRequest request =
        Request({"ab", "longer", ""}, asked & 1, asked & 2);
    request.mutable_params()->set_do_sample(true);
    request.mutable_params()->set_seed(1);
    request.mutable_params()->set_num_return_sequences(2);
    request.mutable_params()->set_top_log_probs(1);
    const v1::GenerateResponse whole = Generate(fixture, request);
    const StreamResult stream = ReadStream(*fixture.stub, request);
    ASSERT_TRUE(stream.status.ok()) << stream.status.error_message();
    std::vector<int> chunks(3);
    for (const v1::GenerateChunk& chunk : stream.chunks) {
      const bool first = chunks[chunk.input()]++ == 0;
      EXPECT_EQ(chunk.has_prompt(), first);
      if (!first) continue;
      EXPECT_EQ(chunk.prompt().SerializeAsString(),
                whole.results(chunk.input()).prompt().SerializeAsString());
    }
  }
}

TEST(RpcPromptTest, NothingHasAnEmptyOne) {
  RpcFixture fixture(Options());
  v1::GenerateRequest request = Request({}, true, true);
  request.add_inputs()->mutable_tokens();
  const v1::GenerateResult result = Generate(fixture, request).results(0);
  EXPECT_TRUE(result.has_prompt());
  EXPECT_EQ(result.prompt().ids_size(), 0);
  EXPECT_EQ(result.prompt().log_probs_size(), 0);
  const StreamResult stream = ReadStream(*fixture.stub, request);
  ASSERT_EQ(stream.chunks.size(), 1u);
  EXPECT_TRUE(stream.chunks[0].has_prompt());
}

TEST(RpcPromptTest, AnInputThatFailsHasNone) {
  RpcFixture fixture(Options());
  v1::GenerateRequest request = Request({"ab"}, true, true);
  request.add_inputs()->mutable_tokens()->add_ids(-1);
  EXPECT_FALSE(Generate(fixture, request).results(1).has_prompt());
  int with_prompt = 0;
  for (const v1::GenerateChunk& chunk :
       ReadStream(*fixture.stub, request).chunks) {
    EXPECT_EQ(chunk.has_prompt(), chunk.input() == 0 && ++with_prompt == 1);
  }
}

TEST(RpcPromptTest, AModelTellsItsBeginningAndEnds) {
  RpcFixtureOptions options = Options();
  options.engine.info.generation.eos_ids = {7, 5};
  RpcFixture fixture(options);
  grpc::ClientContext context;
  v1::Model model;
  ASSERT_TRUE(fixture.stub->GetModel(&context, {}, &model).ok());
  EXPECT_FALSE(model.has_bos_id());  // the fake tokenizer has none
  EXPECT_THAT(model.eos_ids(), ElementsAre(7, 5));
}

TEST(RpcPromptTest, ModelsThatDoNotContinueRefuse) {
  RpcFixture fixture(Options());
  for (bool echo : {true, false}) {
    v1::GenerateRequest request = Request({"ab"}, echo, !echo);
    request.set_model("plain");
    grpc::ClientContext context;
    v1::GenerateResponse response;
    const grpc::Status status =
        fixture.stub->Generate(&context, request, &response);
    EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(),
                HasSubstr(absl::StrCat(
                    "params.", echo ? "echo" : "prompt_log_probs",
                    " is true, but model 'plain' does not continue its "
                    "source")));
  }
}

}  // namespace
}  // namespace attend
