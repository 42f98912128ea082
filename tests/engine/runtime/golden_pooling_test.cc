// Directories of sentence-transformers, as small changes make others of them,
// and GGUF files of encoders.

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/runtime/model_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const EngineOptions kOptions = {
    .max_step_rows = 64, .max_source_tokens = 64, .kv_cache_bytes = 0};

// How the config names what expected.json calls "cls", "mean", ...
struct Mode {
  const char* name;
  const char* flag;
};

// The vectors of a model's golden cases are those that `mode` names.
void ExpectVectors(const std::string& path, const json& expected,
                   const char* mode) {
  const LoadedModel loaded = Load(path, kOptions);
  Driver driver(loaded.engine());
  for (const json& golden : expected["embed"]) {
    if (!golden.contains(mode)) continue;
    const SequenceOutput output =
        driver.Run({{.input = SourceOf(golden), .task = EmbedTask{}}})[0];
    const std::vector<double> vector = golden[mode];
    ASSERT_EQ(output.values.size(), vector.size());
    for (size_t j = 0; j < vector.size(); ++j) {
      EXPECT_NEAR(output.values[j], vector[j], Tolerance(vector[j]));
    }
  }
}

class GoldenPoolingTest : public testing::TestWithParam<Mode> {
 protected:
  GoldenPoolingTest()
      : directory_(std::filesystem::temp_directory_path() /
                   ("attend_pooling_test_" + std::to_string(getpid()))) {
    std::filesystem::copy(GoldenDirectory("families/bert-mean-pooling"),
                          directory_, std::filesystem::copy_options::recursive);
  }
  ~GoldenPoolingTest() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& file, const json& value) {
    std::ofstream(directory_ / file) << value;
  }

  const std::filesystem::path directory_;
};

TEST_P(GoldenPoolingTest, PoolsAsTheDirectorySays) {
  json modules = ReadGolden("families/bert-mean-pooling/modules.json");
  modules.erase(2);  // the one that makes the length 1
  Write("modules.json", modules);
  json pooling = ReadGolden("families/bert-mean-pooling/1_Pooling/config.json");
  for (auto& [key, value] : pooling.items()) {
    if (key.starts_with("pooling_mode")) value = key == GetParam().flag;
  }
  Write("1_Pooling/config.json", pooling);

  ExpectVectors(directory_,
                ReadGolden("families/bert-mean-pooling/expected.json"),
                GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, GoldenPoolingTest,
    testing::Values(Mode{"cls", "pooling_mode_cls_token"},
                    Mode{"mean", "pooling_mode_mean_tokens"},
                    Mode{"max", "pooling_mode_max_tokens"},
                    Mode{"lasttoken", "pooling_mode_lasttoken"}),
    [](const auto& mode) { return mode.param.name; });

TEST(GoldenGgufTest, EmbedsAsTheDirectoriesDo) {
  for (const std::string name :
       {"gguf/bert-mean-pooling.gguf", "gguf/distilbert-max-pooling.gguf",
        "gguf/nomic_bert-mean-pooling.gguf"}) {
    SCOPED_TRACE(name);
    ExpectVectors(GoldenDirectory(name), ReadExpected(name), "mean");
  }
}

// A golden GGUF file whose bytes are changed.
struct ChangedGguf {
  explicit ChangedGguf(const std::string& name)
      : path(std::filesystem::temp_directory_path() /
             ("attend_changed_gguf_" + std::to_string(getpid()))) {
    std::stringstream file;
    file << std::ifstream(GoldenDirectory(name)).rdbuf();
    bytes = file.str();
  }
  ~ChangedGguf() { std::filesystem::remove(path); }

  void Write() const { std::ofstream(path) << bytes; }
  std::string Error() const {
    Write();
    return std::string(OpenModelFiles(path).status().message());
  }
  // The first byte of a key's value, which the key's type precedes.
  char& Value(const std::string& key) {
    return bytes[bytes.find(key) + key.size() + sizeof(uint32_t)];
  }

  const std::string path;
  std::string bytes;
};

TEST(GoldenGgufTest, PoolsAsTheFileSays) {
  constexpr char kFile[] = "gguf/bert-mean-pooling.gguf";
  ChangedGguf file(kFile);
  char& pooling = file.Value("bert.pooling_type");
  for (const auto& [number, mode] :
       {std::pair(0, "mean"), {2, "cls"}, {3, "lasttoken"}}) {
    SCOPED_TRACE(mode);
    pooling = static_cast<char>(number);
    file.Write();
    ExpectVectors(file.path, ReadExpected(kFile), mode);
  }
  pooling = 4;  // a reranker
  EXPECT_THAT(file.Error(), HasSubstr("bert.pooling_type is 4, expected an "
                                      "integer in [0, 3]"));
}

TEST(GoldenGgufTest, RefusesADecoderThatIsCalledAnEncoder) {
  ChangedGguf file("gguf/bert-mean-pooling.gguf");
  file.Value("bert.attention.causal") = 1;
  EXPECT_THAT(file.Error(),
              HasSubstr("bert.attention.causal is true, expected false"));
}

TEST(GoldenGgufTest, NamesTheKeyThatIsAbsent) {
  struct File {
    const char* name;
    std::vector<std::string> keys;
  };
  const std::vector<std::string> bert = {
      "context_length",       "embedding_length",
      "block_count",          "feed_forward_length",
      "attention.head_count", "attention.layer_norm_epsilon",
      "attention.causal"};
  std::vector<std::string> nomic = bert;
  nomic.push_back("rope.freq_base");
  const std::vector<File> files = {
      {"bert-mean-pooling", bert},
      {"nomic_bert-mean-pooling", nomic},
      {"gemma-wide-heads",
       {"context_length", "embedding_length", "block_count",
        "feed_forward_length", "attention.head_count",
        "attention.layer_norm_rms_epsilon"}},
      {"t5-4x-long",
       {"embedding_length", "block_count", "feed_forward_length",
        "attention.head_count", "attention.key_length",
        "attention.layer_norm_rms_epsilon", "attention.relative_buckets_count",
        "decoder_start_token_id"}},
  };
  for (const File& named : files) {
    for (const std::string& key : named.keys) {
      ChangedGguf file(absl::StrCat("gguf/", named.name, ".gguf"));
      const size_t at = file.bytes.find("." + key);
      ASSERT_NE(at, std::string::npos) << key;
      file.bytes[at + key.size()] = '_';
      EXPECT_THAT(file.Error(),
                  HasSubstr(absl::StrCat(".", key, " is missing")))
          << named.name;
    }
  }
}

// RoBERTa's first position is the row after padding's: two rows of its table
// are nobody's.
TEST(GoldenLimitsTest, ASourceEndsWhereThePositionsEnd) {
  for (const auto& [name, limit] :
       {std::pair("families/bert-4x-labels", 56),
        std::pair("families/roberta-4x-multi-label", 54)}) {
    const LoadedModel loaded = Load(GoldenDirectory(name), kOptions);
    EXPECT_EQ(loaded.engine().info().max_source_tokens, limit);
    EngineRequest request = {.input = SourceTokens{std::vector<int>(limit, 7)},
                             .task = ClassifyTask{}};
    EXPECT_TRUE(loaded.engine().NewSequence(request).ok());
    request.input = SourceTokens{std::vector<int>(limit + 1, 7)};
    EXPECT_THAT(
        std::string(loaded.engine().NewSequence(request).status().message()),
        HasSubstr(std::to_string(limit)));
  }
}

}  // namespace
}  // namespace attend
