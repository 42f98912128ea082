// What a long source or prompt takes: memory in proportion to its tokens, and
// no activations of the widest layers for all of them.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

constexpr int kMostTokens = 8192;
constexpr int kStepRows = 64;

// A copy of a golden model that has so many positions.
std::string WithPositions(const std::string& name, int positions) {
  const std::filesystem::path copy =
      std::filesystem::path(testing::TempDir()) / "long" / name;
  std::filesystem::create_directories(copy);
  std::filesystem::copy(GoldenDirectory(name), copy,
                        std::filesystem::copy_options::recursive |
                            std::filesystem::copy_options::overwrite_existing);
  nlohmann::json config = ReadGolden(name + "/config.json");
  config["max_position_embeddings"] = positions;
  std::ofstream(copy / "config.json") << config;
  return copy.string();
}

int64_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

struct LongCase {
  const char* model;
  // What the rows of a source, or a prompt, must keep: bytes a token, of which
  // so many in the KV pool.
  int bytes;
  int pool_bytes;
};

EngineRequest RequestOf(const Engine& engine, int tokens) {
  SourceTokens source;
  for (int i = 0; i < tokens; ++i) source.ids.push_back(3 + i % 40);
  if (engine.info().generates) {
    return {.input = InputOf(engine.info(), std::move(source)),
            .task = ScoreTask{.target = {5}}};
  }
  return {.input = std::move(source), .task = EmbedTask{}};
}

// Bytes of a context that is just large enough for a request of so many tokens,
// and of its sequence, after the last step (a step allocates nothing).
int64_t BytesOf(const LongCase& c, const std::string& directory, int tokens) {
  const LoadedModel model =
      Load(directory, {.max_step_rows = kStepRows,
                       .max_source_tokens = tokens,
                       .kv_cache_bytes = static_cast<size_t>(tokens + 16) *
                                         std::max(c.pool_bytes, 1)});
  const Engine& engine = model.engine();
  EngineRequest request = RequestOf(engine, tokens);
  const int64_t before = AllocatedBytes();
  const auto context = engine.NewContext();
  const auto sequence = engine.NewSequence(std::move(request));
  EXPECT_TRUE(sequence.ok()) << sequence.status();
  if (!sequence.ok()) return 0;
  StepPlan plan;
  while ((*sequence)->Next().phase != Phase::kDone) {
    const int rows = std::min((*sequence)->Next().rows, kStepRows);
    plan.pieces = {{.sequence = sequence->get(), .rows = rows}};
    EXPECT_TRUE(context->Step(plan).ok());
  }
  EXPECT_TRUE((*sequence)->output().finished);
  return AllocatedBytes() - before;
}

class LongAllocationTest : public ::testing::TestWithParam<LongCase> {};

TEST_P(LongAllocationTest, MemoryIsThatOfTheTokensKept) {
  const std::string directory = WithPositions(GetParam().model, kMostTokens);
  int64_t last = 0;
  int last_tokens = 0;
  for (int tokens = 1024; tokens < kMostTokens; tokens *= 2) {
    const int64_t bytes = BytesOf(GetParam(), directory, tokens);
    if (last > 0) {
      const double more = static_cast<double>(bytes - last);
      const double of_token = more / (tokens - last_tokens);
      EXPECT_GE(of_token, GetParam().bytes);
      // Ids, positions, and what finds them.
      EXPECT_LE(of_token, GetParam().bytes + 64);
    }
    last = bytes;
    last_tokens = tokens;
  }
}

// Angles are ten floats a position.
TEST(LongPositionsTest, AnglesAreThoseOfPositionsThatThePoolHolds) {
  constexpr int kPositions = 1 << 18;
  const std::string directory =
      WithPositions("families/llama-4x-linear-rope", kPositions);
  const int64_t before = AllocatedBytes();
  const LoadedModel model =
      Load(directory, {.max_step_rows = kStepRows, .kv_cache_bytes = 1 << 20});
  EXPECT_EQ(model.engine().info().max_target_tokens, kPositions);
  EXPECT_LT(AllocatedBytes() - before, 8 * kPositions);
}

INSTANTIATE_TEST_SUITE_P(
    Models, LongAllocationTest,
    ::testing::Values(
        // Hidden states, queries, keys and values of one layer, of 24 each.
        LongCase{"families/modernbert-prompts", 4 * 24 * 4, 0},
        // Keys and values of two layers, of 30 each.
        LongCase{"families/llama-4x-linear-rope", 2 * 2 * 5 * 24,
                 2 * 2 * 5 * 24}),
    [](const auto& test) { return TestNameOf(test.param.model); });

}  // namespace
}  // namespace attend
