// Embed, Classify, FillMask and Rerank of a real server, as transformers has
// them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/integration/encoder_server.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using Floats = std::vector<float>;

constexpr float kTolerance = 1e-4f;

void ExpectNear(const Floats& found, const Floats& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], kTolerance) << i;
  }
}

// Of a vector that is cut and brought to length 1 again.
Floats Cut(Floats values, size_t dimensions) {
  values.resize(dimensions);
  double square = 0;
  for (const float value : values) square += double{value} * value;
  for (float& value : values) value /= static_cast<float>(std::sqrt(square));
  return values;
}

class EncoderTasksTest : public testing::Test {
 protected:
  v1::EmbedResult Embed(const v1::EmbedRequest& request) {
    const auto response = client_.Embed(request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? response->results(0) : v1::EmbedResult();
  }
  Floats Values(const v1::EmbedRequest& request) {
    const v1::EmbedResult result = Embed(request);
    EXPECT_EQ(result.status().code(), 0) << result.status().message();
    return {result.values().begin(), result.values().end()};
  }

  Client client_{EncoderServer().client_options()};
};

TEST_F(EncoderTasksTest, EmbedsTextsWithPrompts) {
  for (const Json& one : TextCases("embed")) {
    SCOPED_TRACE(one["model"]);
    auto request = ForText<v1::EmbedRequest>(one["model"], one["text"]);
    const std::string prompt = one["prompt_name"];
    if (!prompt.empty()) request.set_prompt_name(prompt);
    ExpectNear(Values(request), one["values"]);
  }
  auto request = ForText<v1::EmbedRequest>("modernbert-prompts", "a dog");
  request.set_prompt_name("query");
  const Floats named = Values(request);
  request.set_prompt_text("search_query: ");
  EXPECT_EQ(Values(request), named);
  request.set_prompt_text("");
  EXPECT_NE(Values(request), named);
}

TEST_F(EncoderTasksTest, EmbedsInFewerDimensionsAndOtherScales) {
  const Json one = TextCases("embed")[0];
  auto request = ForText<v1::EmbedRequest>(one["model"], one["text"]);
  const Floats whole = Values(request);
  for (const int dimensions : {1, 5, static_cast<int>(whole.size())}) {
    request.set_dimensions(dimensions);
    ExpectNear(Values(request), Cut(one["values"], dimensions));
  }
  request.clear_dimensions();
  request.set_normalize(false);
  const Floats raw = Values(request);
  ExpectNear(Cut(raw, raw.size()), whole);
  EXPECT_NE(raw, whole);
}

TEST_F(EncoderTasksTest, EmbedsInOtherEncodings) {
  auto request = ForText<v1::EmbedRequest>("xlm-roberta-dense", "a small dog");
  const Floats values = Values(request);
  request.set_encoding(v1::EMBEDDING_FLOAT32);
  const std::string f32 = Embed(request).data();
  ASSERT_EQ(f32.size(), values.size() * 4);
  EXPECT_EQ(std::memcmp(f32.data(), values.data(), f32.size()), 0);
  request.set_encoding(v1::EMBEDDING_BFLOAT16);
  const v1::EmbedResult half = Embed(request);
  EXPECT_EQ(half.width(), static_cast<int>(values.size()));
  EXPECT_TRUE(half.values().empty());
  ASSERT_EQ(half.data().size(), values.size() * 2);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, &half.data()[i * 2], sizeof(bits));
    const float value = std::bit_cast<float>(uint32_t{bits} << 16);
    EXPECT_NEAR(value, values[i], std::abs(values[i]) / 256) << i;
  }
}

TEST_F(EncoderTasksTest, EmbedsTokensOfEncoderDecoders) {
  for (const Json& one : TextCases("embed_tokens")) {
    SCOPED_TRACE(one["model"]);
    auto request = ForText<v1::EmbedRequest>(one["model"], one["text"]);
    ExpectNear(Values(request), one["mean"]);
    request.set_per_token(true);
    const v1::EmbedResult result = Embed(request);
    ASSERT_EQ(result.tokens_size(), static_cast<int>(one["ids"].size()));
    for (int i = 0; i < result.tokens_size(); ++i) {
      EXPECT_EQ(result.tokens(i).id(), one["ids"][i]);
      const auto begin = result.values().begin() + i * result.width();
      ExpectNear({begin, begin + result.width()}, one["values"][i]);
    }
    EXPECT_TRUE(result.tokens(0).special());
    EXPECT_EQ(result.tokens(1).begin(), 0);
    EXPECT_GT(result.tokens(1).end(), 0);
  }
}

TEST_F(EncoderTasksTest, ClassifiesTextsAndPairs) {
  for (const Json& one : TextCases("classify")) {
    auto request = ForText<v1::ClassifyRequest>(one["model"], one["text"]);
    if (one.contains("pair")) request.mutable_inputs(0)->set_pair(one["pair"]);
    const auto response = client_.Classify(request);
    ASSERT_TRUE(response.ok()) << response.status();
    std::vector<std::string> labels;
    Floats scores;
    for (const v1::LabelScore& label : response->results(0).labels()) {
      labels.push_back(label.label());
      scores.push_back(label.score());
    }
    EXPECT_EQ(labels, one["labels"].get<std::vector<std::string>>());
    ExpectNear(scores, one["scores"]);

    request.set_top_k(2);
    const auto two = client_.Classify(request);
    ASSERT_TRUE(two.ok()) << two.status();
    ASSERT_EQ(two->results(0).labels_size(), 2);
    EXPECT_EQ(two->results(0).labels(1).label(), labels[1]);
  }
}

TEST_F(EncoderTasksTest, ClassifiesTokensAndSaysWhereTheyAre) {
  for (const Json& one : TextCases("classify_tokens")) {
    const auto response = client_.Classify(
        ForText<v1::ClassifyRequest>(one["model"], one["text"]));
    ASSERT_TRUE(response.ok()) << response.status();
    const v1::ClassifyResult& result = response->results(0);
    ASSERT_EQ(result.tokens_size(), static_cast<int>(one["tokens"].size()));
    for (int i = 0; i < result.tokens_size(); ++i) {
      const Json& expected = one["tokens"][i];
      const v1::SourceToken& token = result.tokens(i).token();
      EXPECT_EQ(token.id(), expected["id"]);
      EXPECT_EQ(token.begin(), expected["begin"]);
      EXPECT_EQ(token.end(), expected["end"]);
      ASSERT_EQ(result.tokens(i).labels_size(), 1);
      EXPECT_EQ(result.tokens(i).labels(0).label(),
                expected["label"].get<std::string>());
      EXPECT_NEAR(result.tokens(i).labels(0).score(), expected["score"],
                  kTolerance);
    }
  }
}

TEST_F(EncoderTasksTest, FillsMasks) {
  for (const Json& one : TextCases("fill_mask")) {
    auto request = ForText<v1::FillMaskRequest>(one["model"], one["text"]);
    request.set_top_k(3);
    const auto response = client_.FillMask(request);
    ASSERT_TRUE(response.ok()) << response.status();
    const v1::FillMaskResult& result = response->results(0);
    ASSERT_EQ(result.masks_size(), static_cast<int>(one["masks"].size()));
    for (int i = 0; i < result.masks_size(); ++i) {
      std::vector<int> ids;
      Floats probabilities;
      for (const v1::MaskCandidate& fill : result.masks(i).candidates()) {
        ids.push_back(fill.token().id());
        probabilities.push_back(std::exp(fill.token().log_prob()));
      }
      EXPECT_EQ(ids, one["masks"][i]["ids"].get<std::vector<int>>());
      ExpectNear(probabilities, one["masks"][i]["probs"]);
    }
    EXPECT_THAT(result.text(), testing::Not(HasSubstr("[MASK]")));
  }
}

TEST_F(EncoderTasksTest, Reranks) {
  for (const Json& one : TextCases("rerank")) {
    v1::RerankRequest request;
    request.set_model(one["model"]);
    request.set_query(one["query"]);
    for (const std::string text : one["documents"]) request.add_documents(text);
    for (const char* kind : {"scores", "raw"}) {
      request.set_raw_scores(std::string(kind) == "raw");
      const auto response = client_.Rerank(request);
      ASSERT_TRUE(response.ok()) << response.status();
      std::vector<int> order;
      Floats scores;
      for (const v1::RerankResult& result : response->results()) {
        order.push_back(result.index());
        scores.push_back(result.score());
      }
      EXPECT_EQ(order, one["order"].get<std::vector<int>>());
      ExpectNear(scores, one[kind]);
    }
  }
}

TEST_F(EncoderTasksTest, ABatchIsItsInputsAlone) {
  v1::EmbedRequest batch;
  std::vector<Floats> alone;
  for (int i = 0; i < 40; ++i) {
    batch.add_inputs()->set_text(Words(i));
    alone.push_back(Values(ForText<v1::EmbedRequest>("", Words(i))));
  }
  const auto response = client_.Embed(batch);
  ASSERT_TRUE(response.ok()) << response.status();
  for (int i = 0; i < batch.inputs_size(); ++i) {
    const auto& values = response->results(i).values();
    EXPECT_EQ(Floats(values.begin(), values.end()), alone[i]) << i;
  }
}

TEST_F(EncoderTasksTest, ModelsSayWhatTheyCanDo) {
  const auto tasks = [&](const char* model) {
    return client_.GetModel(model)->tasks();
  };
  EXPECT_THAT(tasks("bert-mean-pooling"), ElementsAre(v1::TASK_EMBED));
  EXPECT_THAT(tasks("bert-4x-labels"),
              ElementsAre(v1::TASK_EMBED, v1::TASK_CLASSIFY));
  EXPECT_THAT(tasks("bert-tokens"),
              ElementsAre(v1::TASK_EMBED, v1::TASK_CLASSIFY_TOKENS));
  EXPECT_THAT(tasks("bert-mask"),
              ElementsAre(v1::TASK_EMBED, v1::TASK_FILL_MASK));
  EXPECT_THAT(tasks("bert-reranker"),
              ElementsAre(v1::TASK_EMBED, v1::TASK_CLASSIFY, v1::TASK_RERANK));
  EXPECT_THAT(
      tasks("bert-inference"),
      ElementsAre(v1::TASK_EMBED, v1::TASK_CLASSIFY, v1::TASK_ZERO_SHOT));
  EXPECT_THAT(tasks("bert-choice"),
              ElementsAre(v1::TASK_EMBED, v1::TASK_CHOOSE));
  EXPECT_THAT(tasks("bert-spans"),
              ElementsAre(v1::TASK_EMBED, v1::TASK_ANSWER));
  EXPECT_THAT(tasks("t5-few-buckets"),
              ElementsAre(v1::TASK_GENERATE, v1::TASK_EMBED));
  EXPECT_EQ(client_.GetModel("bert-mask")->mask_token(), "[MASK]");
  const auto roberta = client_.GetModel("xlm-roberta-dense");
  EXPECT_EQ(roberta->max_source_tokens(), 54);
  EXPECT_EQ(roberta->max_text_tokens(), 54);  // not 56, as its files say
  EXPECT_EQ(client_.GetModel("modernbert-prompts")->max_source_tokens(), 128);
  EXPECT_EQ(client_.GetModel("modernbert-prompts")->max_text_tokens(), 56);
}

}  // namespace
}  // namespace attend
