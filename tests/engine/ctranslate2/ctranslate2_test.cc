// Directories as CTranslate2's converters write them compute what CTranslate2
// does; tests/golden/make_ctranslate2.py wrote them, and what it does.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const EngineOptions kSmall = {
    .max_step_rows = 64, .max_source_tokens = 48, .kv_cache_bytes = 8 << 20};

std::vector<std::string> Fixtures() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(GoldenDirectory("ctranslate2"))) {
    names.push_back("ctranslate2/" + entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Ctranslate2Test : public testing::TestWithParam<std::string> {};

TEST_P(Ctranslate2Test, GeneratesWhatCtranslate2Generates) {
  const LoadedModel loaded = Load(GoldenDirectory(GetParam()), kSmall);
  const Engine& engine = loaded.engine();
  Driver driver(engine);
  const json expected = ReadGolden(GetParam() + "/expected.json");
  ASSERT_GE(expected["generate"].size(), 6);
  for (const json& golden : expected["generate"]) {
    SCOPED_TRACE(golden["name"].get<std::string>() + " " +
                 golden["source"].dump());
    const GenerationParams params =
        ParamsOf(golden["params"], engine.info().generation);
    const SequenceOutput output =
        driver.Run({{.input = InputOf(engine.info(), SourceOf(golden)),
                     .task = GenerateTask{params}}})[0];
    const json& choices = golden["choices"];
    ASSERT_EQ(output.choices.size(), choices.size());
    for (size_t i = 0; i < choices.size(); ++i) {
      const std::vector<int> ids = choices[i]["ids"];
      EXPECT_THAT(output.choices[i].tokens, ElementsAreArray(ids));
      if (!choices[i].contains("score")) continue;
      EXPECT_NEAR(output.choices[i].score, choices[i]["score"], 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Ctranslate2Test, testing::ValuesIn(Fixtures()),
                         [](const auto& test) {
                           return TestNameOf(test.param);
                         });

// The pieces of OPUS-MT's models beside model.bin cut text as those beside
// model.safetensors do.
TEST(Ctranslate2TokenizerTest, CutsTextAsTheModelBeforeItsConversion) {
  const LoadedModel loaded =
      Load(GoldenDirectory("ctranslate2/marian-int8"), kSmall);
  const Tokenizer& tokenizer = *loaded.model.tokenizer;
  const json expected = ReadGolden("marian/plain/expected.json");
  int compared = 0;
  for (const json& golden : expected["text"]) {
    const std::string text = golden["text"];
    const std::vector<int> ids = golden["ids"];
    // A converted vocabulary has no padding.
    if (golden["side"] != "source" || text.find("<pad>") != text.npos) continue;
    const auto encoding = tokenizer.Encode({.text = text});
    ASSERT_TRUE(encoding.ok()) << encoding.status();
    EXPECT_THAT(encoding->ids, ElementsAreArray(ids)) << text;
    EXPECT_EQ(*tokenizer.Decode(ids, Side::kTarget, false),
              golden["decoded"].get<std::string>());
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

TEST(Ctranslate2TokenizerTest, WithoutOneTokensHaveTheirSpelling) {
  const LoadedModel loaded =
      Load(GoldenDirectory("ctranslate2/t5-int8"), kSmall);
  const Tokenizer& tokenizer = *loaded.model.tokenizer;
  EXPECT_EQ(tokenizer.vocab_size(Side::kSource), 67);
  EXPECT_EQ(tokenizer.Piece(66, Side::kTarget), "t66");
  EXPECT_EQ(tokenizer.TokenId("t7", Side::kSource), 7);
  EXPECT_THAT(std::string(tokenizer.Encode({.text = "a"}).status().message()),
              HasSubstr("no tokenizer"));
}

// A copy of a fixture that a test may spoil.
class SpoiltCtranslate2Test : public testing::Test {
 protected:
  SpoiltCtranslate2Test()
      : directory_(std::filesystem::temp_directory_path() /
                   ("attend_ctranslate2_test_" + std::to_string(getpid()))) {
    std::filesystem::copy(GoldenDirectory("ctranslate2/marian-int8"),
                          directory_);
  }
  ~SpoiltCtranslate2Test() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& file, const std::string& text) {
    std::ofstream(directory_ / file) << text;
  }
  // config.json with another value of a field.
  void Configure(const std::string& key, const json& value) {
    json config = ReadGolden("ctranslate2/marian-int8/config.json");
    config[key] = value;
    Write("config.json", config.dump());
  }
  std::string Error() {
    Compute compute({.threads = 1});
    const auto model = LoadModel(compute, directory_, "test", kSmall);
    return std::string(model.status().message());
  }

  const std::filesystem::path directory_;
};

TEST_F(SpoiltCtranslate2Test, NamesWhatIsWrongInTheFilesBesideTheWeights) {
  EXPECT_EQ(Error(), "");
  Configure("eos_token", "<end>");
  EXPECT_THAT(Error(), HasSubstr("eos_token is \"<end>\""));
  Configure("add_source_bos", true);
  EXPECT_THAT(Error(), HasSubstr("add_source_bos is true"));
  Configure("quantization_type", 1);
  EXPECT_THAT(Error(), HasSubstr("quantization_type is 1"));
  Configure("layer_norm_epsilon", 0);
  EXPECT_THAT(Error(), HasSubstr("layer_norm_epsilon is 0"));
  Configure("layer_norm_epsilon", nullptr);
  Write("shared_vocabulary.json", R"(["</s>", "<unk>"])");
  EXPECT_THAT(Error(), HasSubstr("shared_vocabulary.json: 2 tokens, expected "
                                 "89, the rows of the token table"));
  Write("shared_vocabulary.json", R"(["</s>", 7])");
  EXPECT_THAT(Error(), HasSubstr("the token with id 1 is 7"));
  std::filesystem::remove(directory_ / "shared_vocabulary.json");
  EXPECT_THAT(Error(), HasSubstr("no vocabulary"));
}

// Of a model that is given the language as the first token of each target.
TEST_F(SpoiltCtranslate2Test, ADecoderNeedsAStart) {
  std::filesystem::remove_all(directory_);
  std::filesystem::copy(GoldenDirectory("ctranslate2/t5-int8"), directory_);
  json config = ReadGolden("ctranslate2/t5-int8/config.json");
  config["decoder_start_token"] = nullptr;
  Write("config.json", config.dump());
  EXPECT_THAT(Error(), AllOf(HasSubstr("config.json"),
                             HasSubstr("decoder_start_token is missing")));
}

// Version 5 has lines of tokens, and no config.json.
TEST_F(SpoiltCtranslate2Test, LoadsWhatEarlierConvertersWrote) {
  std::string lines;
  const json tokens =
      ReadGolden("ctranslate2/marian-int8/shared_vocabulary.json");
  for (const std::string token : tokens) {
    // An unknown token that is missing comes last.
    lines += token + "\n";
  }
  Write("shared_vocabulary.txt", lines);
  std::filesystem::remove(directory_ / "shared_vocabulary.json");
  std::filesystem::remove(directory_ / "config.json");
  std::fstream file(directory_ / "model.bin",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.put(5);
  file.close();
  EXPECT_EQ(Error(), "");
}

TEST_F(SpoiltCtranslate2Test, WeightsOfHuggingFaceComeFirst) {
  std::filesystem::copy(GoldenDirectory("marian/plain/model.safetensors"),
                        directory_ / "model.safetensors");
  EXPECT_THAT(Error(), HasSubstr("model_type"));
}

}  // namespace
}  // namespace attend
