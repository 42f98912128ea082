#include "engine/runtime/load_draft.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "engine/runtime/model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const EngineOptions kSmall = {.max_step_rows = 32, .kv_cache_bytes = 1 << 20};

// The error of loading a model with a draft model; "" if both load.
std::string Error(const std::string& model, const std::string& draft) {
  Compute compute({.threads = 1});
  const auto loaded =
      LoadModel(compute, GoldenDirectory(model), "test", kSmall,
                draft[0] == '/' ? draft : GoldenDirectory(draft));
  return std::string(loaded.status().message());
}

class LoadDraftTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (DetectIsa() < Isa::kAvx2) GTEST_SKIP() << "no draft model is loaded";
  }
};

TEST_F(LoadDraftTest, ItsFilesMustBeThere) {
  EXPECT_THAT(Error("marian/plain", "/no/such/model"),
              AllOf(HasSubstr("draft model: /no/such/model"),
                    HasSubstr("no such directory or file")));
}

TEST_F(LoadDraftTest, ItHasTheSameNumberOfTokens) {
  EXPECT_THAT(Error("marian/plain", "marian/gelu"),
              AllOf(HasSubstr("marian/gelu has 80 target tokens"),
                    HasSubstr("marian/plain has 90")));
}

TEST_F(LoadDraftTest, ItHasTheSameTokens) {
  const std::filesystem::path changed =
      std::filesystem::temp_directory_path() /
      ("attend_load_draft_test_" + std::to_string(getpid()));
  std::filesystem::copy(GoldenDirectory("marian/gelu"), changed,
                        std::filesystem::copy_options::recursive);
  std::stringstream text;
  text << std::ifstream(changed / "vocab.json").rdbuf();
  std::string vocab = text.str();
  const std::string token = "\"\u2581st\"";
  const size_t at = vocab.find(token);
  EXPECT_NE(at, std::string::npos);
  std::ofstream(changed / "vocab.json")
      << vocab.replace(at, token.size(), "\"\u2581qq\"");
  const std::string error = Error("marian/gelu", changed.string());
  std::filesystem::remove_all(changed);
  EXPECT_THAT(error,
              AllOf(HasSubstr(" is ' qq' in " + changed.string()),
                    HasSubstr(", but ' st' in "), HasSubstr("marian/gelu")));
}

TEST_F(LoadDraftTest, ItIsOfTheSameKind) {
  EXPECT_THAT(Error("families/llama-llama3-rope", "families/m2m_100-gelu"),
              AllOf(HasSubstr("m2m_100-gelu has an encoder, but "),
                    HasSubstr("llama-llama3-rope has none")));
  EXPECT_THAT(Error("families/m2m_100-gelu", "families/llama-llama3-rope"),
              HasSubstr("llama-llama3-rope has no encoder, but "));
  EXPECT_THAT(Error("families/llama-llama3-rope", "families/bert-mask"),
              AllOf(HasSubstr("bert-mask has no decoder"),
                    HasSubstr("it cannot draft tokens")));
  EXPECT_THAT(Error("families/bert-mask", "families/llama-llama3-rope"),
              AllOf(HasSubstr("bert-mask has no decoder"),
                    HasSubstr("no tokens can be drafted for it")));
}

TEST_F(LoadDraftTest, FrequenciesThatDependOnTheLengthAreRefused) {
  for (const auto& [model, draft] :
       {std::pair("families/llama-4x-dynamic-rope",
                  "families/llama-llama3-rope"),
        std::pair("families/llama-llama3-rope",
                  "families/llama-4x-dynamic-rope")}) {
    EXPECT_THAT(Error(model, draft),
                HasSubstr("llama-4x-dynamic-rope has rotary frequencies"));
  }
}

// Before any of it is taken.
TEST_F(LoadDraftTest, ItsMemoryCounts) {
  Compute compute({.threads = 1});
  const std::string path = GoldenDirectory("marian/plain");
  const auto model = LoadModel(compute, path, "test",
                               {.kv_cache_bytes = size_t{900} << 40}, path);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("the draft model's the KV cache"));
}

TEST_F(LoadDraftTest, ItsCostIsThatOfItsWeights) {
  Compute compute({.threads = 1});
  const std::string path = GoldenDirectory("marian/gelu");
  const auto same = LoadModel(compute, path, "test", kSmall, path);
  ASSERT_TRUE(same.ok()) << same.status();
  ASSERT_TRUE(same->draft.has_value());
  EXPECT_EQ(same->draft->cost, 1);
  EXPECT_EQ(same->draft->family, "marian");
  const LoadedModel alone = Load(path, kSmall);
  EXPECT_FALSE(alone.model.draft.has_value());
}

TEST(DraftRowCostTest, CountsWeights) {
  LayerSpec layer;
  layer.self_attention = {.heads = 4, .kv_heads = 2, .head_dim = 8};
  layer.feed_forward = {.width = 100, .gated = true};
  TransformerSpec spec;
  spec.hidden = 32;
  spec.decoder = StackSpec{.embedding = {.vocab = 1000}, .layers = {layer}};
  // Queries, output, keys and values; then gate, in and out.
  const double one = 32 * (32 + 32 + 16 + 16) + 32 * 100 * 3;
  EXPECT_EQ(DecoderRowCost(spec), one + 32 * 1000);
  spec.decoder->layers.push_back(layer);
  EXPECT_EQ(DecoderRowCost(spec), 2 * one + 32 * 1000);
  for (LayerSpec& with_cross : spec.decoder->layers) {
    with_cross.cross_attention = {.heads = 4, .kv_heads = 4, .head_dim = 8};
  }
  // Queries and output.
  EXPECT_EQ(DecoderRowCost(spec), 2 * (one + 32 * 64) + 32 * 1000);
}

TEST(OldInstructionsTest, NoDraftModelIsLoaded) {
  Compute compute({.threads = 1, .max_isa = Isa::kBaseline});
  const auto model = LoadModel(compute, GoldenDirectory("marian/plain"), "test",
                               {.max_step_rows = 32,
                                .kv_cache_bytes = 1 << 20,
                                .dtype = ComputeType::kF32},
                               "/no/such/model");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_FALSE(model->draft.has_value());
}

}  // namespace
}  // namespace attend
