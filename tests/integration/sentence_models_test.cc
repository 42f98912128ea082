// Directories of sentence-transformers as the library saves them, from texts to
// what its encode() returns.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/server_process.h"

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

TEST_F(SentenceModelsTest, EmbedsAsTheLibraryDoes) {
  for (const Json& one : Expected("embed")) {
    SCOPED_TRACE(one.dump().substr(0, 100));
    v1::EmbedRequest request;
    request.set_model(one["model"].get<std::string>());
    request.add_inputs()->set_text(one["text"].get<std::string>());
    request.set_truncate(true);
    if (one.contains("prompt_name")) {
      request.set_prompt_name(one["prompt_name"].get<std::string>());
    }
    const auto response = client_.Embed(request);
    ASSERT_TRUE(response.ok()) << response.status();
    ASSERT_EQ(response->results(0).status().code(), 0)
        << response->results(0).status().message();
    ExpectNear(response->results(0).values(), one["values"]);
  }
}

}  // namespace
}  // namespace attend
