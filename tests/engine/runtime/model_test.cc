#include "engine/runtime/model.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A copy of a golden checkpoint that a test may spoil.
class ModelTest : public testing::Test {
 protected:
  ModelTest()
      : compute_({.threads = 1}),
        directory_(std::filesystem::temp_directory_path() /
                   ("attend_model_test_" + std::to_string(getpid()))) {
    std::filesystem::copy(GoldenDirectory("marian/plain"), directory_,
                          std::filesystem::copy_options::recursive);
  }
  ~ModelTest() override { std::filesystem::remove_all(directory_); }

  // The error of loading, or "" if it loads.
  std::string Error() {
    const auto model =
        LoadModel(compute_, directory_, "test",
                  {.max_step_rows = 32, .kv_cache_bytes = 1 << 20});
    return std::string(model.status().message());
  }

  void Replace(const std::string& file, const std::string& from,
               const std::string& to) {
    std::stringstream text;
    text << std::ifstream(directory_ / file).rdbuf();
    std::string changed = text.str();
    const size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    std::ofstream(directory_ / file) << changed;
  }

  Compute compute_;
  const std::filesystem::path directory_;
};

TEST_F(ModelTest, LoadsWhatIsWhole) { EXPECT_EQ(Error(), ""); }

TEST_F(ModelTest, RefusesADTypeThatTheInstructionsLack) {
  Compute compute({.threads = 1, .max_isa = Isa::kAvx2});
  const auto model = LoadModel(compute, directory_, "test",
                               {.max_step_rows = 32,
                                .kv_cache_bytes = 1 << 20,
                                .dtype = ComputeType::kInt8});
  EXPECT_EQ(model.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(model.status().message()),
              AllOf(HasSubstr("dtype is int8"), HasSubstr("avx512_vnni")));
}

TEST_F(ModelTest, NamesAMissingFile) {
  for (const char* file :
       {"config.json", "model.safetensors", "source.spm", "vocab.json"}) {
    std::filesystem::rename(directory_ / file, directory_ / "away");
    EXPECT_THAT(Error(), HasSubstr(file));
    std::filesystem::rename(directory_ / "away", directory_ / file);
  }
}

// What people try in place of a model's directory.
TEST_F(ModelTest, SaysWhatToDoAboutWhatIsNoModel) {
  const auto error = [&](const std::string& path) {
    const absl::Status status = LoadModel(compute_, path, "test", {}).status();
    return std::string(status.message());
  };
  EXPECT_THAT(error("org/model"), HasSubstr("attend-server --hub OWNER/NAME"));
  const std::filesystem::path other = directory_ / "other";
  std::filesystem::create_directory(other);
  EXPECT_THAT(error(other), HasSubstr("no config.json in it"));
  std::ofstream(other / "m.gguf") << "GGUF";
  EXPECT_THAT(error(other),
              HasSubstr("name the file: " + other.string() + "/m.gguf"));
  EXPECT_THAT(error(other / "m.gguf"), HasSubstr("m.gguf: the version"));
  std::ofstream(other / "adapter_config.json") << "{}";
  EXPECT_THAT(error(other), HasSubstr("peft"));
  EXPECT_THAT(error(directory_ / "config.json"), HasSubstr("not a GGUF file"));
}

TEST_F(ModelTest, TheTokenizerMayBeLargerButNotThatOfAnotherModel) {
  const auto add = [&](int begin, int end) {
    std::string tokens = "{";
    for (int id = begin; id < end; ++id) {
      absl::StrAppend(&tokens, "\"<", id, ">\": ", id, ", ");
    }
    Replace("vocab.json", "{", tokens);
  };
  add(90, 90 + 1024);
  EXPECT_EQ(Error(), "");
  add(90 + 1024, 90 + 1025);
  EXPECT_THAT(Error(), AllOf(HasSubstr("tokenizer has 1115 source tokens"),
                             HasSubstr("config.json has 90")));
}

TEST_F(ModelTest, WeightsAndConfigMustAgree) {
  Replace("config.json", "\"encoder_ffn_dim\": ", "\"encoder_ffn_dim\": 1");
  EXPECT_THAT(Error(), AllOf(HasSubstr("model.safetensors"), HasSubstr("fc1"),
                             HasSubstr("shape")));
}

// Requests that set nothing are refused, or get another default.
TEST_F(ModelTest, DefaultsThatAreNotServedAreWarnings) {
  const auto warnings = [&] {
    const auto model =
        LoadModel(compute_, directory_, "test",
                  {.max_step_rows = 32, .kv_cache_bytes = 1 << 20});
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? model->warnings : std::vector<std::string>();
  };
  Replace("generation_config.json", "{", "{\"length_penalty\": 20, ");
  EXPECT_THAT(warnings(),
              ElementsAre(HasSubstr("generation_config.json: length_penalty is "
                                    "20, must be in [-10, 10]")));
  Replace("generation_config.json", "\"length_penalty\": 20, ", "");
  Replace("generation_config.json", "\"num_beams\": 4", "\"num_beams\": 33");
  EXPECT_THAT(warnings(),
              ElementsAre(AllOf(HasSubstr(directory_.string()),
                                HasSubstr("num_beams is 33, limit is 32"))));
}

// Before any of it is taken.
TEST_F(ModelTest, MoreMemoryThanThereIsIsRefused) {
  const auto error = [&](const EngineOptions& options) {
    const auto model = LoadModel(compute_, directory_, "test", options);
    EXPECT_EQ(model.status().code(), absl::StatusCode::kResourceExhausted);
    return std::string(model.status().message());
  };
  EXPECT_THAT(error({.kv_cache_bytes = size_t{900} << 40}),
              AllOf(HasSubstr("the KV cache (kv_cache_bytes) of 921600.0 GiB"),
                    HasSubstr("weights of "),
                    HasSubstr("that this process may use (")));
  EXPECT_THAT(error({.kv_cache_bytes = SIZE_MAX}), HasSubstr("more than the "));
}

TEST_F(ModelTest, APoolBelowTwoBlocksIsRefused) {
  const auto model = LoadModel(compute_, directory_, "test",
                               {.max_step_rows = 32, .kv_cache_bytes = 100});
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("kv_cache_bytes is 100"));
}

}  // namespace
}  // namespace attend
