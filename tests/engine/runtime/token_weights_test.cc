// Weights of tokens in a JSON file, as SparseStaticEmbedding.from_json() of
// sentence-transformers reads them.

#include "engine/runtime/token_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/tokenizer/load_tokenizer.h"
#include "tests/engine/checkpoint/files.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using testing::HasSubstr;

class TokenWeightsTest : public testing::Test {
 protected:
  TokenWeightsTest() {
    std::filesystem::create_directory(own_);
    tokenizer_ = *LoadTokenizer(GoldenDirectory("sentence/from_list"));
    directory_.Write("0_Sparse/config.json", R"({"path": "idf.json"})");
  }

  absl::StatusOr<std::unique_ptr<const TensorSource>> Open() const {
    return TokenWeights::OpenIfNamed(
        directory_.path(),
        {.kind = FirstModule::Kind::kSparseStatic, .directory = own_},
        *tokenizer_);
  }
  std::string Error() const { return std::string(Open().status().message()); }

  // The weights that are not 0, by their tokens.
  std::map<std::string, float> Weights() const {
    const auto source = Open();
    EXPECT_TRUE(source.ok()) << source.status();
    const auto view = (*source)->Find("weight");
    EXPECT_TRUE(view.ok()) << view.status();
    const int vocab = tokenizer_->vocab_size(Side::kSource);
    EXPECT_EQ(view->shape, std::vector<int64_t>{vocab});
    std::vector<float> all(vocab);
    std::memcpy(all.data(), view->bytes.data(), view->bytes.size());
    std::map<std::string, float> weights;
    for (int id = 0; id < vocab; ++id) {
      if (all[id] == 0) continue;
      weights[std::string(tokenizer_->Piece(id, Side::kSource))] = all[id];
    }
    return weights;
  }

  const TestDirectory directory_;
  const std::string own_ = directory_.path() + "/0_Sparse";
  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_F(TokenWeightsTest, TokensThatAreNotListedWeighNothing) {
  directory_.Write("0_Sparse/idf.json",
                   R"({"tea": 2.5, "dog": -1, "the": 0.0, "[SEP]": 3})");
  EXPECT_EQ(Weights(), (std::map<std::string, float>{
                           {"tea", 2.5f}, {"dog", -1.f}, {"[SEP]", 3.f}}));
}

TEST_F(TokenWeightsTest, TheFileMayBeInTheModelsDirectory) {
  directory_.Write("idf.json", R"({"tea": 1})");
  EXPECT_EQ(Weights(), (std::map<std::string, float>{{"tea", 1.f}}));
  directory_.Write("0_Sparse/idf.json", R"({"tea": 2})");
  EXPECT_EQ(Weights(), (std::map<std::string, float>{{"tea", 2.f}}));
}

TEST_F(TokenWeightsTest, AnUnknownTokenIsTheOneThatStandsForAll) {
  directory_.Write("idf.json", R"({"zzz": 1, "[UNK]": 2, "yyy": 4})");
  EXPECT_EQ(Weights(), (std::map<std::string, float>{{"[UNK]", 4.f}}));
}

// sentence-transformers then reads the tensor of the module.
TEST_F(TokenWeightsTest, APathThatIsNoJsonFileNamesNothing) {
  for (const char* config :
       {"{}", R"({"path": null})", R"({"path": "owner/name"})"}) {
    directory_.Write("0_Sparse/config.json", config);
    const auto source = Open();
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(*source, nullptr);
  }
}

TEST_F(TokenWeightsTest, ErrorsNameTheFileAndTheToken) {
  EXPECT_THAT(Error(), HasSubstr("path is \"idf.json\", expected a file in " +
                                 own_ + " or in " + directory_.path()));
  for (const char* config :
       {R"({"path": "../idf.json"})", R"({"path": "/tmp/idf.json"})"}) {
    directory_.Write("0_Sparse/config.json", config);
    EXPECT_THAT(Error(), HasSubstr("expected a file in the model's directory"));
  }
  directory_.Write("0_Sparse/config.json", R"({"path": "idf.json"})");
  for (const char* value : {"null", "true", "\"1\"", "[1]", "1e39"}) {
    directory_.Write("idf.json", absl::StrCat("{\"tea\": ", value, "}"));
    EXPECT_THAT(Error(), HasSubstr("idf.json: \"tea\" is "));
    EXPECT_THAT(Error(), HasSubstr("expected a number in f32"));
  }
  directory_.Write("idf.json", R"({"tea": 1, "tea": 1})");
  EXPECT_THAT(Error(), HasSubstr("tea"));
  directory_.Write("idf.json", "{}");
  EXPECT_THAT(Error(), HasSubstr("has no weight"));
  directory_.Write("idf.json", "[1]");
  EXPECT_THAT(Error(), HasSubstr("idf.json"));
}

}  // namespace
}  // namespace attend
