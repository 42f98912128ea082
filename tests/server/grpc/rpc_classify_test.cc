// What Classify and Rerank answer, through the loopback.

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/server/grpc/rpc_encoder_calls.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RpcClassifyTest, ClassifyTexts) {
  RpcFixture fixture(Classifier({"bad", "good"}));
  auto request = OfTexts<v1::ClassifyRequest>({"ab"});
  v1::ClassifyResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::Classify, request, response).ok());
  EXPECT_EQ(response.model(), "fake");
  const v1::ClassifyResult result = response.results(0);
  ASSERT_EQ(result.labels_size(), 2);
  EXPECT_EQ(result.labels(0).label(), "good");
  EXPECT_EQ(result.labels(0).index(), 1);
  EXPECT_EQ(result.labels(0).score(), 34);
  EXPECT_EQ(result.labels(1).score(), 4);
  EXPECT_THAT(result.tokens(), IsEmpty());
  EXPECT_EQ(result.usage().source_tokens(), 3);

  request.set_top_k(1);
  ASSERT_TRUE(Call(fixture, &Stub::Classify, request, response).ok());
  EXPECT_EQ(response.results(0).labels_size(), 1);
  request.set_top_k(-1);
  EXPECT_THAT(ErrorOf(fixture, &Stub::Classify, request),
              HasSubstr("top_k is -1"));
}

TEST(RpcClassifyTest, ClassifyScoresAsTheModelSays) {
  RpcFixture fixture(Classifier({"a", "b"}, LabelScores::kSoftmax));
  auto request = OfTexts<v1::ClassifyRequest>({""});
  v1::ClassifyResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::Classify, request, response).ok());
  const v1::ClassifyResult& result = response.results(0);  // of 11 and 1
  EXPECT_THAT(result.labels(0).score() + result.labels(1).score(), FloatEq(1));
  request.set_raw_scores(true);
  ASSERT_TRUE(Call(fixture, &Stub::Classify, request, response).ok());
  EXPECT_EQ(response.results(0).labels(0).score(), 11);
}

TEST(RpcClassifyTest, ClassifyPairs) {
  RpcFixture fixture(Classifier({"a"}));
  v1::ClassifyRequest request;
  request.add_inputs()->set_text("a");
  request.mutable_inputs(0)->set_pair("b");
  v1::Tokens& tokens = *request.add_inputs()->mutable_tokens();
  for (const int id : {98, 0, 99, 0}) tokens.add_ids(id);
  for (const int type : {0, 0, 1, 1}) tokens.add_types(type);
  v1::Input& wrong = *request.add_inputs();
  wrong.mutable_tokens()->add_ids(1);
  wrong.set_pair("b");
  v1::Tokens& few = *request.add_inputs()->mutable_tokens();
  few.add_ids(1);
  few.add_ids(2);
  few.add_types(0);
  v1::Tokens& third = *request.add_inputs()->mutable_tokens();
  third.add_ids(1);
  third.add_types(2);
  v1::ClassifyResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::Classify, request, response).ok());
  // Two of the four tokens are of the second text: 100 each.
  EXPECT_EQ(response.results(0).labels(0).score(), 205);
  EXPECT_EQ(response.results(1).labels(0).score(), 205);
  EXPECT_THAT(response.results(2).status().message(),
              HasSubstr("inputs[2].pair is set, but not with tokens"));
  EXPECT_THAT(response.results(3).status().message(),
              HasSubstr("inputs[3].tokens.types has 1 values, must have one "
                        "for each of 2 ids"));
  EXPECT_THAT(response.results(4).status().message(),
              HasSubstr("inputs[4].tokens.types[0] is 2, must be in [0, 2)"));
}

TEST(RpcClassifyTest, ClassifyTokens) {
  RpcFixtureOptions options = Classifier({"O", "B", "I"});
  options.engine.info.labels_tokens = true;
  RpcFixture fixture(options);
  auto request = OfTexts<v1::ClassifyRequest>({"ab"});
  v1::ClassifyResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::Classify, request, response).ok());
  v1::ClassifyResult result = response.results(0);
  EXPECT_THAT(result.labels(), IsEmpty());
  ASSERT_EQ(result.tokens_size(), 2);  // not the end of sequence
  EXPECT_EQ(result.tokens(1).token().id(), 99);
  EXPECT_EQ(result.tokens(1).token().begin(), 1);
  EXPECT_EQ(result.tokens(1).token().end(), 2);
  ASSERT_EQ(result.tokens(1).labels_size(), 1);
  EXPECT_EQ(result.tokens(1).labels(0).label(), "I");
  EXPECT_EQ(result.tokens(1).labels(0).score(), 99 % 7 + 21);
  request.set_top_k(3);
  ASSERT_TRUE(Call(fixture, &Stub::Classify, request, response).ok());
  EXPECT_EQ(response.results(0).tokens(0).labels_size(), 3);
}

TEST(RpcClassifyTest, Rerank) {
  RpcFixture fixture(Classifier({"relevance"}));
  v1::RerankRequest request;
  request.set_query("q");
  for (const char* document : {"a", "\x01", "aaaa", "aa", "aa"}) {
    request.add_documents(document);
  }
  v1::RerankResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::Rerank, request, response).ok());
  const auto order = [&] {
    std::vector<int> indices;
    for (const auto& result : response.results()) {
      indices.push_back(result.index());
    }
    return indices;
  };
  EXPECT_THAT(order(), ElementsAre(2, 3, 4, 0, 1));
  EXPECT_EQ(response.results(4).status().message(),
            "documents[1].text: text has 0x01");
  // Tokens of "q" and of the document with their ends.
  EXPECT_EQ(response.results(0).usage().source_tokens(), 7);
  EXPECT_EQ(response.results(0).score(), (114 % 7 + 1) + 1 + 4 * 101 + 101);
  EXPECT_EQ(response.results(0).document(), "");

  request.set_top_n(2);
  request.set_return_documents(true);
  ASSERT_TRUE(Call(fixture, &Stub::Rerank, request, response).ok());
  EXPECT_THAT(order(), ElementsAre(2, 3, 1));
  EXPECT_EQ(response.results(0).document(), "aaaa");
  request.set_top_n(-1);
  EXPECT_THAT(ErrorOf(fixture, &Stub::Rerank, request),
              HasSubstr("top_n is -1"));
  request.clear_documents();
  EXPECT_THAT(ErrorOf(fixture, &Stub::Rerank, request),
              HasSubstr("documents has 0 entries"));
}

// transformers' pipelines cut at model_max_length if they are told to cut, and
// else compute more; a CrossEncoder never computes more.
TEST(RpcClassifyTest, TextsAreCutAtTheLengthOfTheModel) {
  RpcFixtureOptions options = Classifier({"relevance"});
  options.engine.info.max_text_tokens = 4;
  RpcFixture fixture(options);
  auto classify = OfTexts<v1::ClassifyRequest>({"abcdef"});
  classify.mutable_inputs(0)->set_pair("c");
  for (int i = 0; i < 6; ++i) {
    if (i == 0) classify.add_inputs();
    classify.mutable_inputs(1)->mutable_tokens()->add_ids(5);
  }
  v1::ClassifyResponse classified;
  ASSERT_TRUE(Call(fixture, &Stub::Classify, classify, classified).ok());
  EXPECT_EQ(classified.results(0).usage().source_tokens(), 9);
  classify.set_truncate(true);
  ASSERT_TRUE(Call(fixture, &Stub::Classify, classify, classified).ok());
  EXPECT_EQ(classified.results(0).usage().source_tokens(), 4);
  EXPECT_TRUE(classified.results(0).usage().truncated());
  EXPECT_EQ(classified.results(1).usage().source_tokens(), 6);

  v1::RerankRequest rerank;
  rerank.set_query("q");
  rerank.add_documents("a");
  rerank.add_documents("abc");
  v1::RerankResponse ranked;
  ASSERT_TRUE(Call(fixture, &Stub::Rerank, rerank, ranked).ok());
  EXPECT_EQ(ranked.results(1).status().message(),
            "documents[1] has 6 tokens, limit is 4 (max_text_tokens)");
  rerank.set_truncate(true);
  ASSERT_TRUE(Call(fixture, &Stub::Rerank, rerank, ranked).ok());
  EXPECT_EQ(ranked.results(0).usage().source_tokens(), 4);
  EXPECT_EQ(ranked.results(1).usage().source_tokens(), 4);
}

TEST(RpcClassifyTest, RerankScoresAreProbabilities) {
  RpcFixture fixture(Classifier({"relevance"}, LabelScores::kSigmoid));
  v1::RerankRequest request;
  request.add_documents("a");
  request.add_documents("aaa");
  v1::RerankResponse response;
  ASSERT_TRUE(Call(fixture, &Stub::Rerank, request, response).ok());
  // Both probabilities are 1 in f32, but one logit is greater.
  EXPECT_EQ(response.results(0).score(), 1);
  EXPECT_EQ(response.results(1).score(), 1);
  EXPECT_EQ(response.results(0).index(), 1);
  request.set_raw_scores(true);
  ASSERT_TRUE(Call(fixture, &Stub::Rerank, request, response).ok());
  EXPECT_EQ(response.results(0).index(), 1);
  EXPECT_GT(response.results(0).score(), response.results(1).score());
  EXPECT_GT(response.results(1).score(), 17);
}

}  // namespace
}  // namespace attend
