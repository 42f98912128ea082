// Texts that are too long, of a real server: cut where they begin, if
// tokenizer_config.json says so, as the programs of transformers and
// sentence-transformers do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/encoder_server.h"

namespace attend {
namespace {

using Json = nlohmann::json;

template <typename Values>
void ExpectNear(const Values& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), static_cast<int>(expected.size()));
  for (int i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-4f) << i;
  }
}

class EncoderTruncationTest : public testing::Test {
 protected:
  const Json& left_ = TextCases("cut_left");
  Client client_{EncoderServer().client_options()};
};

TEST_F(EncoderTruncationTest, Embed) {
  auto request =
      ForText<v1::EmbedRequest>("left-bert-mean-pooling", left_["text"]);
  request.set_truncate(true);
  const auto response = client_.Embed(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ExpectNear(response->results(0).values(), left_["embedding"]);
}

TEST_F(EncoderTruncationTest, Classify) {
  auto request =
      ForText<v1::ClassifyRequest>("left-bert-4x-labels", left_["text"]);
  request.set_truncate(true);
  const auto response = client_.Classify(request);
  ASSERT_TRUE(response.ok()) << response.status();
  const auto& labels = response->results(0).labels();
  ASSERT_EQ(labels.size(), static_cast<int>(left_["labels"].size()));
  for (int i = 0; i < labels.size(); ++i) {
    EXPECT_EQ(labels[i].label(), left_["labels"][i].get<std::string>());
    EXPECT_NEAR(labels[i].score(), left_["label_scores"][i], 1e-4f);
  }
}

TEST_F(EncoderTruncationTest, Rerank) {
  v1::RerankRequest request;
  request.set_model("left-bert-reranker");
  request.set_query(left_["query"]);
  request.set_truncate(true);
  for (const std::string text : left_["documents"]) request.add_documents(text);
  const auto response = client_.Rerank(request);
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->results_size(), 2);
  for (const v1::RerankResult& result : response->results()) {
    EXPECT_NEAR(result.score(), left_["rank_scores"][result.index()], 1e-4f);
  }
}

}  // namespace
}  // namespace attend
