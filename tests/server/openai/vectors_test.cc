// Embeddings, and the scores that are made of them.

#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/escaping.h"
#include "tests/server/openai/openai_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

HttpFixtureOptions Embedding() {
  HttpFixtureOptions options = OpenAiFixture();
  options.engines[0].info.continues_source = false;
  return options;
}

HttpFixtureOptions Labelling() {
  HttpFixtureOptions options = Embedding();
  ModelInfo& info = options.engines[0].info;
  info.generates = info.embeds = info.fills_masks = false;
  info.classifies = true;
  info.labels = {"good"};
  // As of a model for regression, which the pipelines do not change, and
  // CrossEncoder does.
  info.label_scores = LabelScores::kRaw;
  info.pair_scores = LabelScores::kSigmoid;
  return options;
}

TEST(EmbeddingsTest, ListsAndBase64AreTheSameNumbers) {
  HttpFixture fixture(Embedding());
  const json lists =
      PostJson(fixture, "/v1/embeddings", R"({"input": ["abc", "de"]})");
  const json packed =
      PostJson(fixture, "/v1/embeddings",
               R"({"input": ["abc", "de"], "encoding_format": "base64"})");
  EXPECT_EQ(lists["object"], "list");
  EXPECT_EQ(lists["model"], "fake");
  EXPECT_EQ(lists["usage"],
            json::parse(R"({"prompt_tokens": 7, "total_tokens": 7})"));
  ASSERT_EQ(lists["data"].size(), 2u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(lists["data"][i]["index"], i);
    EXPECT_EQ(lists["data"][i]["object"], "embedding");
    const json& numbers = lists["data"][i]["embedding"];
    ASSERT_EQ(numbers.size(), 4u);
    std::string bytes;
    ASSERT_TRUE(absl::Base64Unescape(
        packed["data"][i]["embedding"].get<std::string>(), &bytes));
    ASSERT_EQ(bytes.size(), 16u);
    for (int k = 0; k < 4; ++k) {
      float number;
      std::memcpy(&number, bytes.data() + 4 * k, 4);
      EXPECT_EQ(numbers[k].get<float>(), number);
    }
  }
  EXPECT_EQ(
      PostJson(fixture, "/v1/embeddings",
               R"({"input": [[98, 0], [99, 0]], "dimensions": 2})")["data"][1]
                                                                   ["embedding"]
                                                                       .size(),
      2u);
}

// The fake divides by the first number where it is told to normalise.
TEST(EmbeddingsTest, VectorsAreNormalisedUnlessTheClientSaysOtherwise) {
  HttpFixture fixture(Embedding());
  const auto first = [&](const char* field) {
    return PostJson(fixture, "/v1/embeddings",
                    absl::StrCat(R"({"input": "abc")", field,
                                 "}"))["data"][0]["embedding"][0]
        .get<float>();
  };
  EXPECT_EQ(first(""), 1);
  EXPECT_EQ(first(R"(, "normalize": true)"), 1);
  EXPECT_EQ(first(R"(, "normalize": null)"), 1);
  EXPECT_GT(first(R"(, "normalize": false)"), 1);
}

TEST(EmbeddingsTest, ErrorsNameTheField) {
  HttpFixture fixture(Embedding());
  const struct {
    const char *body, *param, *message;
  } cases[] = {
      {"{}", "input", "input is absent"},
      {R"({"input": "a", "dimensions": 5})", "dimensions",
       "dimensions is 5, must be in [0, 4]"},
      {R"({"input": "a", "encoding_format": "int8"})", "encoding_format",
       "must be float or base64"},
      {R"({"input": "a", "prompt_name": "query"})", "prompt_name", "query"},
      {R"({"input": "a", "task": "separation"})", "prompt_name", "separation"},
      {R"({"input": "a", "prompt_name": "a", "task": "b"})", "task",
       "task is \"b\", must be the same as prompt_name"},
      {R"({"input": ["a", "\u0001"]})", "input", "input[1]"},
      {R"({"input": "a", "normalize": 1})", "normalize",
       "normalize is 1, must be true or false"},
      {R"({"input": "a", "colour": 1})", "colour", "is not a field"},
  };
  for (const auto& c : cases) {
    const json error =
        PostJson(fixture, "/v1/embeddings", c.body, 400)["error"];
    EXPECT_EQ(error["param"], c.param) << c.body << error;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(c.message));
  }
}

TEST(RerankTest, BestFirst) {
  for (const bool embeds : {false, true}) {
    HttpFixture fixture(embeds ? Embedding() : Labelling());
    for (const char* path : {"/rerank", "/v1/rerank", "/v2/rerank"}) {
      const json answer = PostJson(fixture, path,
                                   R"({"query": "q", "top_n": 2,
                                       "return_documents": true, "documents":
                                       ["a", {"text": "bbb"}, "cc"]})");
      ASSERT_EQ(answer["results"].size(), 2u);
      const json& best = answer["results"][0];
      EXPECT_GE(best["relevance_score"],
                answer["results"][1]["relevance_score"]);
      constexpr const char* kDocuments[] = {"a", "bbb", "cc"};
      EXPECT_EQ(best["document"]["text"], kDocuments[best["index"].get<int>()]);
      EXPECT_GT(answer["usage"]["total_tokens"], 0);
    }
    // The score of a pair is the same in both APIs.
    const json rerank =
        PostJson(fixture, "/rerank", R"({"query": "q", "documents": ["bbb"]})");
    const json score =
        PostJson(fixture, "/v1/score", R"({"text_1": "q", "text_2": "bbb"})");
    EXPECT_EQ(rerank["results"][0]["relevance_score"],
              score["data"][0]["score"]);
    EXPECT_FALSE(rerank["results"][0].contains("document"));
  }
}

// Probabilities of all these documents are 1 in f32.
TEST(RerankTest, TheOrderIsThatOfTheLogits) {
  HttpFixture fixture(Labelling());
  constexpr char kBody[] = R"({"query": "q", "documents": ["a", "ccc", "bb"])";
  const json scored =
      PostJson(fixture, "/rerank", absl::StrCat(kBody, "}"))["results"];
  const json raw =
      PostJson(fixture, "/rerank",
               absl::StrCat(kBody, R"(, "raw_scores": true})"))["results"];
  constexpr int kOrder[] = {1, 2, 0};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(scored[i]["index"], kOrder[i]);
    EXPECT_EQ(scored[i]["relevance_score"], 1);
    EXPECT_EQ(raw[i]["index"], kOrder[i]);
    EXPECT_GT(raw[i]["relevance_score"], 17);
  }
  // Whichever method of attend.v1 scores a pair.
  for (const char* first : {R"("q")", R"(["q", "q", "q"])"}) {
    const auto score = [&](const char* field) {
      return PostJson(fixture, "/score",
                      absl::StrCat(R"({"text_1": )", first,
                                   R"(, "text_2": ["a", "ccc", "bb"])", field,
                                   "}"))["data"][1]["score"];
    };
    EXPECT_EQ(score(""), 1);
    EXPECT_EQ(score(R"(, "raw_scores": true)"), raw[0]["relevance_score"]);
  }
}

TEST(RerankTest, DocumentsMayHaveMoreFields) {
  HttpFixture fixture(Labelling());
  const json plain = PostJson(
      fixture, "/rerank",
      R"({"query": "q", "documents": ["a", "bbb", "cc"], "top_n": 0})");
  ASSERT_EQ(plain["results"].size(), 3u);
  const json rich = PostJson(fixture, "/v1/rerank", R"({"query": "q",
      "return_documents": true, "documents": [
        {"text": "a", "id": 1}, {"title": "t", "text": "bbb", "tags": ["x"]},
        {"text": "cc", "url": null}]})");
  for (int i = 0; i < 3; ++i) {
    const json& result = rich["results"][i];
    EXPECT_EQ(result["index"], plain["results"][i]["index"]);
    EXPECT_EQ(result["relevance_score"],
              plain["results"][i]["relevance_score"]);
  }
  EXPECT_EQ(rich["results"][0]["document"],
            json::parse(R"({"title": "t", "text": "bbb", "tags": ["x"]})"));
}

TEST(RerankTest, RankFieldsAreRanked) {
  HttpFixture fixture(Labelling());
  const auto score = [&](const std::string& document, const char* fields) {
    return PostJson(fixture, "/v1/rerank",
                    absl::StrCat(R"({"query": "q", "raw_scores": true,)",
                                 fields, R"("documents": [)", document,
                                 "]}"))["results"][0]["relevance_score"];
  };
  const std::string document =
      R"({"text": "no", "title": "One", "year": 1999, "none": null})";
  EXPECT_EQ(score(document, R"("rank_fields": ["title", "none", "year"],)"),
            score(R"("One\n1999")", ""));
  EXPECT_EQ(score(document, ""), score(R"("no")", ""));
}

TEST(RerankTest, ErrorsAreCoheresAndOpenAis) {
  HttpFixture fixture(Labelling());
  const json answer =
      PostJson(fixture, "/v2/rerank", R"({"documents": ["a"]})", 400);
  EXPECT_EQ(answer["message"], "query is absent, must be there");
  EXPECT_EQ(answer["error"]["param"], "query");
  const struct {
    const char *body, *param;
  } cases[] = {
      {R"({"query": "q"})", "documents"},
      {R"({"query": "q", "documents": []})", "documents"},
      {R"({"query": "q", "documents": [{"title": "a"}]})", "documents[0]"},
      {R"({"query": "q", "documents": "a"})", "documents"},
      {R"({"query": "q", "documents": [1]})", "documents[0]"},
      {R"({"query": "q", "documents": [{"text": {}}]})", "documents[0].text"},
      {R"({"query": "q", "documents": [{"text": null}]})", "documents[0]"},
      {R"({"query": "q", "documents": ["a"], "rank_fields": []})",
       "rank_fields"},
      {R"({"query": "q", "documents": ["a"], "top_n": -1})", "top_n"},
      {R"({"query": "q", "documents": ["a"], "max_chunks_per_doc": 1})",
       "max_chunks_per_doc"},
      {R"({"query": "q", "documents": ["a", "\u0001"]})", "documents[1]"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(PostJson(fixture, "/rerank", c.body, 400)["error"]["param"],
              c.param)
        << c.body;
  }
}

// Before anything is made of them: each would get the query.
TEST(RerankTest, DocumentsAreCounted) {
  for (const bool embeds : {false, true}) {
    HttpFixtureOptions options = embeds ? Embedding() : Labelling();
    options.max_call_bytes = 3 * Service::kInputBytes - 1;
    HttpFixture fixture(std::move(options));
    const json error = PostJson(
        fixture, "/rerank", R"({"query": "q", "documents": ["a", "b", "c"]})",
        400)["error"];
    EXPECT_EQ(
        error["message"],
        "documents has 3 entries, must be 1 to 2, which is what 6143 bytes "
        "hold (max_call_bytes)");
    const json two = PostJson(fixture, "/rerank",
                              R"({"query": "q", "documents": ["a", "b"]})",
                              embeds ? 400 : 200);
    if (!embeds) continue;
    EXPECT_EQ(two["error"]["message"],
              "documents has 2 texts, and query 1: must be at most 2 together "
              "(max_call_bytes)");
    EXPECT_EQ(two["error"]["param"], "documents");
  }
}

// The query is there once, however many documents there are.
TEST(RerankTest, ALongQueryIsRefused) {
  HttpFixture fixture(Labelling());
  const std::string body = absl::StrCat(
      R"({"query": ")", std::string(1 << 20, 'q'), R"(", "documents": [""]})");
  const json error = PostJson(fixture, "/rerank", body, 400)["error"];
  EXPECT_THAT(error["message"].get<std::string>(),
              StartsWith("query has 1048576 bytes, limit is "));
  EXPECT_EQ(error["param"], "query");
}

// Whichever input of attend.v1 the text is.
TEST(SimilarityTest, ErrorsNameTheText) {
  constexpr char kRerank[] = "/rerank";
  constexpr char kScore[] = "/score";
  const struct {
    const char *path, *body, *labels, *embeds;  // the params
  } cases[] = {
      {kRerank, R"({"query": "\u0001", "documents": ["a", "b"]})",
       "documents[0]", "query"},
      {kRerank, R"({"query": "q", "documents": ["a", "\u0001", "b"]})",
       "documents[1]", "documents[1]"},
      {kScore, R"({"text_1": "q", "text_2": ["a", "\u0001"]})", "text_2[1]",
       "text_2[1]"},
      {kScore, R"({"queries": "q", "documents": "\u0001"})", "documents",
       "documents"},
      {kScore, R"({"text_1": ["q", "\u0001"], "text_2": ["a", "b"]})",
       "text_1[1]", "text_1[1]"},
  };
  HttpFixture labels(Labelling()), embeds(Embedding());
  for (const auto& c : cases) {
    for (HttpFixture* fixture : {&labels, &embeds}) {
      const json error = PostJson(*fixture, c.path, c.body, 400)["error"];
      const std::string param = fixture == &labels ? c.labels : c.embeds;
      EXPECT_EQ(error["param"], param) << c.body << error;
      EXPECT_THAT(error["message"].get<std::string>(), StartsWith(param))
          << c.body;
    }
  }
}

TEST(ScoreTest, OneNameOfEachList) {
  HttpFixture fixture(Labelling());
  EXPECT_EQ(PostJson(fixture, "/score",
                     R"({"text_1": "a", "queries": "b", "text_2": "c"})",
                     400)["error"]["message"],
            "queries is there beside text_1, of which it is another name");
}

TEST(ScoreTest, OneAgainstManyOrPairs) {
  for (const bool embeds : {false, true}) {
    HttpFixture fixture(embeds ? Embedding() : Labelling());
    const json many =
        PostJson(fixture, "/score", R"({"text_1": "q", "text_2": ["a", "b"]})");
    const json pairs =
        PostJson(fixture, "/v1/score",
                 R"({"queries": ["q", "q"], "documents": ["a", "b"]})");
    EXPECT_EQ(many["object"], "list");
    ASSERT_EQ(many["data"].size(), 2u);
    EXPECT_EQ(many["data"], pairs["data"]);
    EXPECT_EQ(many["data"][1]["index"], 1);
    EXPECT_EQ(many["data"][1]["object"], "score");
  }
  HttpFixture fixture(Labelling());
  EXPECT_EQ(PostJson(fixture, "/score",
                     R"({"text_1": ["q", "r"], "text_2": ["a", "b", "c"]})",
                     400)["error"]["message"],
            "text_1 has 2 texts, must have 1 or as many as text_2: 3");
  EXPECT_EQ(
      PostJson(fixture, "/score", R"({"text_1": "q"})", 400)["error"]["param"],
      "text_1");
}

}  // namespace
}  // namespace attend
