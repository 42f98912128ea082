// Decoders that embed: what requests share, and how they go on after they were
// preempted.

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr int kBlock = KvLayout::kBlockTokens;

LoadedModel LoadFixture(const std::string& name, int blocks = 40) {
  const std::string directory = GoldenDirectory("families/" + name);
  return Load(directory, {.max_step_rows = 64,
                          .kv_cache_bytes = PoolBytes(directory, blocks)});
}

// Texts with the same instruction before them.
std::vector<EngineRequest> Instructed(int count, EmbedTask task) {
  std::mt19937 random(3);
  std::vector<EngineRequest> requests;
  for (int i = 0; i < count; ++i) {
    SourceTokens source;
    for (int j = 0; j < 2 * kBlock; ++j) source.ids.push_back(3 + j % 50);
    const int rest = 1 + static_cast<int>(random() % 20);
    for (int j = 0; j < rest; ++j) {
      source.ids.push_back(3 + static_cast<int>(random() % 50));
    }
    requests.push_back({.input = std::move(source), .task = task});
  }
  return requests;
}

void ExpectSame(const std::vector<SequenceOutput>& found,
                const std::vector<SequenceOutput>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].values, expected[i].values) << i;
  }
}

TEST(PooledPromptTest, AnInstructionIsComputedOnce) {
  const LoadedModel model = LoadFixture("qwen3-embedding");
  const auto alone = RunAlone(model.engine(), Instructed(6, {}));
  Driver driver(model.engine());
  ExpectSame(driver.Run(Instructed(6, {})), alone);
  EXPECT_GE(driver.context().counts().hit_tokens, 5 * 2 * kBlock);
}

TEST(PooledPromptTest, WhatNeedsAllVectorsTakesNoneFromTheCache) {
  const LoadedModel mean = LoadFixture("mistral-4x-mean-pooling");
  Driver driver(mean.engine());
  ExpectSame(driver.Run(Instructed(4, {})),
             RunAlone(mean.engine(), Instructed(4, {})));
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
  const LoadedModel last = LoadFixture("qwen3-embedding");
  Driver each(last.engine());
  each.Run(Instructed(2, {.per_token = true}));
  EXPECT_EQ(each.context().counts().hit_tokens, 0);
}

TEST(PooledPromptTest, PreemptionDoesNotShow) {
  for (const char* name : {"qwen3-embedding", "mistral-4x-mean-pooling"}) {
    const LoadedModel model = LoadFixture(name, 12);
    for (const EmbedTask& task : {EmbedTask{}, EmbedTask{.per_token = true},
                                  EmbedTask{.dimensions = 5}}) {
      const auto alone = RunAlone(model.engine(), Instructed(12, task));
      Driver driver(model.engine(),
                    {.max_rows = 19, .seed = 5, .preempt_at_random = true});
      ExpectSame(driver.Run(Instructed(12, task)), alone);
    }
  }
}

TEST(PooledPromptTest, WhatADecoderCannotReadIsRefused) {
  const LoadedModel model = LoadFixture("qwen3-embedding");
  const auto error = [&](EngineRequest request) {
    return std::string(
        model.engine().NewSequence(std::move(request)).status().message());
  };
  EXPECT_THAT(
      error({.input = SourceTokens{.ids = {3, 4, 5}, .positions = {0, 1, 3}},
             .task = EmbedTask{}}),
      HasSubstr("position is 3 after 1"));
  EXPECT_EQ(error({.input = SourceTokens{.ids = {3, 4}, .positions = {4, 5}},
                   .task = EmbedTask{}}),
            "");
  EXPECT_THAT(
      error({.input = SourceTokens{.ids = {3, 4}}, .task = GenerateTask{}}),
      HasSubstr("does not generate"));
  EXPECT_THAT(
      error({.input = SourceTokens{.ids = {3, 4}}, .task = ClassifyTask{}}),
      HasSubstr("no head"));
}

}  // namespace
}  // namespace attend
