// Directories of sentence-transformers as the library saves them, from texts to
// what its encode() returns: dense, sparse and of several vectors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/server_process.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using Json = nlohmann::json;

const std::string kModels = ATTEND_SOURCE_DIR "/tests/golden/sentence";

class SentenceModelsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = std::make_unique<ServerProcess>(std::vector<std::string>{
        "--models-dir=" + kModels, "--default-model=static"});
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(server_->Stop(), 0) << server_->process().output();
    server_.reset();
  }

  static const Json& Expected(const char* section) {
    static const auto* const all =
        new Json(Json::parse(std::ifstream(kModels + "/expected.json")));
    return all->at(section);
  }

  v1::EmbedResult Embed(const v1::EmbedRequest& request) {
    const auto response = client_.Embed(request);
    EXPECT_TRUE(response.ok()) << response.status();
    if (!response.ok()) return {};
    const v1::EmbedResult& result = response->results(0);
    EXPECT_EQ(result.status().code(), 0) << result.status().message();
    return result;
  }

  static std::unique_ptr<ServerProcess> server_;
  Client client_{server_->client_options()};
};

std::unique_ptr<ServerProcess> SentenceModelsTest::server_;

void ExpectNear(const google::protobuf::RepeatedField<float>& found,
                const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), static_cast<int>(expected.size()));
  for (int i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 2e-5f) << i;
  }
}

// A request for the text of a case, with its prompt and its role.
v1::EmbedRequest RequestOf(const Json& one) {
  v1::EmbedRequest request;
  request.set_model(one["model"].get<std::string>());
  request.add_inputs()->set_text(one["text"].get<std::string>());
  request.set_truncate(true);
  if (one.contains("prompt_name")) {
    request.set_prompt_name(one["prompt_name"].get<std::string>());
  }
  request.set_role(one.value("role", ""));
  return request;
}

TEST_F(SentenceModelsTest, EmbedsAsTheLibraryDoes) {
  for (const Json& one : Expected("embed")) {
    SCOPED_TRACE(one.dump().substr(0, 100));
    ExpectNear(Embed(RequestOf(one)).values(), one["values"]);
  }
}

TEST_F(SentenceModelsTest, WeighsTokensAsTheLibraryDoes) {
  for (const Json& one : Expected("sparse")) {
    SCOPED_TRACE(one.dump().substr(0, 100));
    const v1::EmbedResult result = Embed(RequestOf(one));
    EXPECT_TRUE(result.values().empty());
    const auto& ids = result.sparse().ids();
    EXPECT_EQ(std::vector<int>(ids.begin(), ids.end()),
              one["ids"].get<std::vector<int>>());
    ExpectNear(result.sparse().weights(), one["weights"]);
  }
}

TEST_F(SentenceModelsTest, MakesVectorsOfTokensAsTheLibraryDoes) {
  for (const Json& one : Expected("multi_vector")) {
    SCOPED_TRACE(one.dump().substr(0, 100));
    const v1::MultiVector vectors = Embed(RequestOf(one)).multi_vector();
    EXPECT_EQ(vectors.ids_size(), one["count"].get<int>());
    EXPECT_EQ(vectors.width() * vectors.ids_size(), vectors.values_size());
    ExpectNear(vectors.values(), one["values"]);
  }
}

TEST_F(SentenceModelsTest, MakesAllKindsInOnePass) {
  for (const Json& one : Expected("all")) {
    SCOPED_TRACE(one["text"]);
    v1::EmbedRequest request = RequestOf(one);
    for (const v1::EmbeddingKind kind :
         {v1::EMBEDDING_KIND_MULTI_VECTOR, v1::EMBEDDING_KIND_DENSE,
          v1::EMBEDDING_KIND_SPARSE}) {
      request.add_kinds(kind);
    }
    const v1::EmbedResult result = Embed(request);
    ExpectNear(result.values(), one["values"]);
    const auto& ids = result.sparse().ids();
    EXPECT_EQ(std::vector<int>(ids.begin(), ids.end()),
              one["ids"].get<std::vector<int>>());
    ExpectNear(result.sparse().weights(), one["weights"]);
    EXPECT_EQ(result.multi_vector().ids_size(), one["count"].get<int>());
    ExpectNear(result.multi_vector().values(), one["vectors"]);
  }
}

TEST_F(SentenceModelsTest, RanksByMaxSim) {
  for (const Json& one : Expected("max_sim")) {
    SCOPED_TRACE(one["model"]);
    v1::RerankRequest request;
    request.set_model(one["model"].get<std::string>());
    request.set_query(one["query"].get<std::string>());
    request.set_truncate(true);
    for (const Json& document : one["documents"]) {
      request.add_documents(document.get<std::string>());
    }
    const auto response = client_.Rerank(request);
    ASSERT_TRUE(response.ok()) << response.status();
    ASSERT_EQ(response->results_size(), request.documents_size());
    float before = std::numeric_limits<float>::infinity();
    for (const v1::RerankResult& result : response->results()) {
      EXPECT_NEAR(result.score(), one["scores"][result.index()].get<float>(),
                  1e-4f);
      EXPECT_LE(result.score(), before);
      before = result.score();
    }
    // An error of the query is one of every document.
    request.set_truncate(false);
    request.set_query(one["query"].get<std::string>() + " a dog a dog a dog");
    const auto failed = client_.Rerank(request);
    const std::string message = failed.ok()
                                    ? failed->results(0).status().message()
                                    : std::string(failed.status().message());
    EXPECT_THAT(message, testing::HasSubstr("query"));
  }
}

TEST_F(SentenceModelsTest, AnswersAsTextEmbeddingsInferenceDoes) {
  const auto post = [&](const std::string& path, const Json& body) {
    const std::string text = body.dump();
    RawHttp http;
    EXPECT_TRUE(http.Connect(std::stoi(server_->http_port())));
    EXPECT_TRUE(http.Send(absl::StrCat(
        "POST ", path, " HTTP/1.1\r\nHost: localhost\r\nContent-Type: ",
        "application/json\r\nContent-Length: ", text.size(), "\r\n\r\n",
        text)));
    const std::string answer = http.ReadAnswer();
    return Json::parse(answer.substr(answer.find("\r\n\r\n") + 4));
  };
  const Json& sparse = Expected("sparse")[0];
  const Json& text = sparse["text"];
  const Json weights =
      post("/embed_sparse", {{"model", "splade"}, {"inputs", {text, text}}});
  ASSERT_EQ(weights.size(), 2u) << weights;
  ASSERT_EQ(weights[1].size(), sparse["ids"].size());
  for (size_t i = 0; i < weights[1].size(); ++i) {
    EXPECT_EQ(weights[1][i]["index"].get<int>(), sparse["ids"][i].get<int>());
    EXPECT_NEAR(weights[1][i]["value"].get<float>(),
                sparse["weights"][i].get<float>(), 2e-5f);
  }
  const Json dense = post("/embed", {{"inputs", text}});
  ASSERT_EQ(dense.size(), 1u) << dense;
  EXPECT_EQ(dense[0].size(), 9u);
  const Json tokens = post("/embed_all", {{"inputs", "tea"}});
  EXPECT_EQ(tokens[0].size(), 1u) << tokens;
  EXPECT_EQ(tokens[0][0].size(), 9u);
  const Json& ranked = Expected("max_sim")[0];
  const Json ranks = post("/rerank", {{"model", ranked["model"]},
                                      {"query", ranked["query"]},
                                      {"texts", ranked["documents"]},
                                      {"return_text", true},
                                      {"truncate", true}});
  ASSERT_EQ(ranks.size(), ranked["documents"].size()) << ranks;
  for (const Json& rank : ranks) {
    const auto index = rank["index"].get<size_t>();
    EXPECT_EQ(rank["text"].get<std::string>(),
              ranked["documents"][index].get<std::string>());
    EXPECT_NEAR(rank["score"].get<float>(),
                ranked["scores"][index].get<float>(), 1e-4f);
  }
  const Json error = post("/embed", {{"model", "splade"}, {"inputs", "tea"}});
  EXPECT_EQ(error["error_type"].get<std::string>(), "Validation");
  EXPECT_THAT(error["error"].get<std::string>(), testing::HasSubstr("kinds"));
}

TEST_F(SentenceModelsTest, SaysWhatAModelCanEmbedAndRefusesTheRest) {
  const auto kinds = [&](const char* name) {
    const auto model = client_.GetModel(name);
    EXPECT_TRUE(model.ok()) << model.status();
    const auto& all = model->embedding_kinds();
    return std::vector<int>(all.begin(), all.end());
  };
  EXPECT_THAT(kinds("static"), testing::ElementsAre(v1::EMBEDDING_KIND_DENSE));
  EXPECT_THAT(kinds("splade"), testing::ElementsAre(v1::EMBEDDING_KIND_SPARSE));
  EXPECT_THAT(kinds("colbert"),
              testing::ElementsAre(v1::EMBEDDING_KIND_MULTI_VECTOR));
  v1::EmbedRequest request;
  request.set_model("splade");
  request.add_inputs()->set_text("tea");
  const auto error = [&] {
    return std::string(client_.Embed(request).status().message());
  };
  request.add_kinds(v1::EMBEDDING_KIND_DENSE);
  EXPECT_THAT(error(), testing::HasSubstr("has only: EMBEDDING_KIND_SPARSE"));
  request.clear_kinds();
  request.set_dimensions(2);
  EXPECT_THAT(error(), testing::HasSubstr("dimensions is 2"));
  request.clear_dimensions();
  request.set_role("passage");
  EXPECT_THAT(error(), testing::HasSubstr("role is 'passage'"));
  request.clear_role();
  // As the library, which has no route for a text without a task there.
  request.set_model("table");
  EXPECT_THAT(error(), testing::HasSubstr("no route for texts without a role"));
  request.set_model("splade");
  request.set_per_token(true);
  request.add_kinds(v1::EMBEDDING_KIND_SPARSE);
  EXPECT_THAT(error(), testing::HasSubstr("kinds is set"));
}

}  // namespace
}  // namespace attend
