// What FillMask answers, what models say they can do, and languages.

#include <gmock/gmock.h>

#include <string>

#include "tests/server/grpc/rpc_encoder_calls.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RpcEncodersTest, FillMask) {
  RpcFixture fixture;
  auto request = OfTexts<v1::FillMaskRequest>({"a <mask>", "a"});
  v1::FillMaskResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::FillMask, request, response).ok());
  const v1::FillMaskResult& result = response.results(0);
  ASSERT_EQ(result.masks_size(), 1);
  EXPECT_EQ(result.masks(0).token().begin(), 2);
  EXPECT_EQ(result.masks(0).token().end(), 8);
  EXPECT_EQ(result.masks(0).token().piece(), "<mask>");
  ASSERT_EQ(result.masks(0).candidates_size(), 5);
  // The mask's id is 999, its place 2.
  const v1::MaskCandidate& second = result.masks(0).candidates(1);
  EXPECT_EQ(second.token().id(), 260 + 1 + 1);
  EXPECT_EQ(second.token().log_prob(), -2);
  EXPECT_EQ(second.token().piece(), " w262");
  EXPECT_EQ(second.text(), "a  w262");
  EXPECT_EQ(result.text(), "a  w261");
  EXPECT_EQ(result.usage().generated_tokens(), 0);
  EXPECT_EQ(response.results(1).status().message(),
            "inputs[1] has no mask token, must have at least one: <mask>");
}

TEST(RpcEncodersTest, FillSeveralMasks) {
  RpcFixture fixture;
  v1::FillMaskRequest request;
  for (const int id : {999, 98, 999}) {
    if (request.inputs().empty()) request.add_inputs();
    request.mutable_inputs(0)->mutable_tokens()->add_ids(id);
  }
  request.set_top_k(2);
  v1::FillMaskResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::FillMask, request, response).ok());
  const v1::FillMaskResult& result = response.results(0);
  ASSERT_EQ(result.masks_size(), 2);
  ASSERT_EQ(result.masks(1).candidates_size(), 2);
  EXPECT_EQ(result.masks(0).candidates(0).token().id(), 269);
  EXPECT_EQ(result.masks(1).candidates(0).token().id(), 261);
  EXPECT_EQ(result.masks(1).candidates(0).text(), "");  // of one mask only
  EXPECT_EQ(result.text(), " w269a w261");
  request.set_top_k(101);
  EXPECT_THAT(ErrorOf(fixture, &Stub::FillMask, request),
              HasSubstr("top_k is 101, must be in [0, 100]"));
}

TEST(RpcEncodersTest, ModelsSayWhatTheyCannotDo) {
  RpcFixtureOptions options = Classifier({"a", "b"});
  options.engine.info.generates = false;
  options.engine.info.fills_masks = false;
  RpcFixture fixture(options);
  v1::RerankRequest rerank;
  rerank.add_documents("a");
  EXPECT_EQ(ErrorOf(fixture, &Stub::Rerank, rerank),
            "model 'fake' cannot rerank; it can embed, classify");
  EXPECT_THAT(ErrorOf(fixture, &Stub::FillMask,
                      OfTexts<v1::FillMaskRequest>({"<mask>"})),
              HasSubstr("cannot fill mask"));
  EXPECT_THAT(ErrorOf(fixture, &Stub::Generate, MakeRequest({"a"}, 3)),
              HasSubstr("cannot generate"));
  v1::ScoreRequest score;
  score.add_pairs();
  EXPECT_THAT(ErrorOf(fixture, &Stub::Score, score),
              HasSubstr("cannot generate"));
  RpcFixture plain;
  EXPECT_THAT(
      ErrorOf(plain, &Stub::Classify, OfTexts<v1::ClassifyRequest>({"a"})),
      HasSubstr("cannot classify or classify tokens; it can generate, embed, "
                "fill mask"));
}

TEST(RpcEncodersTest, ModelsAreDescribed) {
  RpcFixtureOptions options = Classifier({"x"}, LabelScores::kSigmoid);
  options.engine.info.prompts = {{"query", "q: "}};
  options.engine.info.default_prompt = "query";
  options.engine.info.max_text_tokens = 7;
  RpcFixture fixture(options);
  v1::Model model;
  ASSERT_TRUE(
      Call(fixture, &Stub::GetModel, v1::GetModelRequest(), model).ok());
  EXPECT_THAT(model.tasks(),
              ElementsAre(v1::TASK_GENERATE, v1::TASK_EMBED, v1::TASK_CLASSIFY,
                          v1::TASK_FILL_MASK, v1::TASK_RERANK));
  EXPECT_EQ(model.embedding_width(), 4);
  EXPECT_EQ(model.token_width(), 3);
  EXPECT_EQ(model.max_text_tokens(), 7);
  EXPECT_THAT(model.labels(), ElementsAre("x"));
  EXPECT_EQ(model.label_scores(), v1::LABEL_SCORES_SIGMOID);
  EXPECT_EQ(model.mask_token(), "<mask>");
  EXPECT_EQ(model.prompts().at("query"), "q: ");
  EXPECT_EQ(model.default_prompt_name(), "query");
  EXPECT_TRUE(model.has_defaults());
}

TEST(RpcEncodersTest, Languages) {
  RpcFixture fixture;
  v1::GenerateRequest request = MakeRequest({"ab"}, 2);
  request.set_source_language("aa");
  request.set_target_language("bb");
  v1::GenerateResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::Generate, request, response).ok());
  EXPECT_EQ(response.results(0).usage().source_tokens(), 4);
  EXPECT_EQ(response.results(0).choices(0).ids(0), 301);
  request.set_target_language("cc");
  EXPECT_THAT(ErrorOf(fixture, &Stub::Generate, request),
              HasSubstr("target_language is 'cc', the model has aa, bb"));
  request.set_source_language("dd");
  EXPECT_THAT(ErrorOf(fixture, &Stub::Generate, request),
              HasSubstr("source_language is 'dd'"));

  v1::ScoreRequest score;
  score.add_pairs()->mutable_source()->set_text("a");
  score.mutable_pairs(0)->mutable_target()->set_text("b");
  score.set_target_language("bb");
  v1::ScoreResponse scored;
  ASSERT_TRUE(Call(fixture, &Stub::Score, score, scored).ok());
  EXPECT_EQ(scored.results(0).tokens(0).token().id(), 301);
}

}  // namespace
}  // namespace attend
