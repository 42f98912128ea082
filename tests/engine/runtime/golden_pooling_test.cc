// Directories of sentence-transformers, as small changes make others of them.

#include <unistd.h>

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
using ::testing::HasSubstr;

constexpr EngineOptions kOptions = {
    .max_step_rows = 64, .max_source_tokens = 64, .kv_cache_bytes = 0};

// How the config names what expected.json calls "cls", "mean", ...
struct Mode {
  const char* name;
  const char* flag;
};

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

  const LoadedModel loaded = Load(directory_, kOptions);
  Driver driver(loaded.engine());
  const json expected = ReadGolden("families/bert-mean-pooling/expected.json");
  for (const json& golden : expected["embed"]) {
    if (!golden.contains(GetParam().name)) continue;
    const SequenceOutput output =
        driver.Run({{.input = SourceOf(golden), .task = EmbedTask{}}})[0];
    const std::vector<double> vector = golden[GetParam().name];
    ASSERT_EQ(output.values.size(), vector.size());
    for (size_t j = 0; j < vector.size(); ++j) {
      EXPECT_NEAR(output.values[j], vector[j], Tolerance(vector[j]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, GoldenPoolingTest,
    testing::Values(Mode{"cls", "pooling_mode_cls_token"},
                    Mode{"mean", "pooling_mode_mean_tokens"},
                    Mode{"max", "pooling_mode_max_tokens"},
                    Mode{"lasttoken", "pooling_mode_lasttoken"}),
    [](const auto& mode) { return mode.param.name; });

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
