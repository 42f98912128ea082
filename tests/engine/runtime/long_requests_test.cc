// What is too long is refused with how many tokens would fit; exactly so many
// are computed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

// Models with room for two hundred tokens and more; blocks are of 16.
constexpr char kContinues[] = "families/llama-4x-linear-rope";
constexpr char kTranslates[] = "marian/plain";
constexpr char kEncodes[] = "families/modernbert-prompts";

SourceTokens Source(int tokens) {
  SourceTokens source;
  source.ids.resize(tokens);
  std::iota(source.ids.begin(), source.ids.end(), 0);
  for (int& id : source.ids) id = 3 + id % 40;
  return source;
}

// A model with a pool of so many blocks.
LoadedModel LoadWith(const std::string& name, int blocks) {
  EngineOptions options = {
      .max_step_rows = 64, .max_source_tokens = 48, .kv_cache_bytes = 8 << 20};
  const LoadedModel large = Load(GoldenDirectory(name), options, 1);
  const int all = large.engine().NewContext()->total_blocks();
  options.kv_cache_bytes = options.kv_cache_bytes / all * blocks;
  return Load(GoldenDirectory(name), options, 1);
}

struct WhatFits {
  const char* name;
  const char* model;
  int blocks;
  int beams;  // 0: a target of new_tokens is scored
  int new_tokens;
  int fit;  // tokens of a source
};

EngineRequest RequestOf(const WhatFits& c, const Engine& engine, int tokens) {
  if (c.beams == 0) {
    return {InputOf(engine.info(), Source(tokens)),
            ScoreTask{.target = Source(c.new_tokens).ids}};
  }
  GenerationParams params = engine.info().generation;
  params.num_beams = c.beams;
  params.num_return_sequences = 1;
  params.max_new_tokens = c.new_tokens;
  params.min_new_tokens = c.new_tokens;
  return {InputOf(engine.info(), Source(tokens)), GenerateTask{params}};
}

const char* InputName(const Engine& engine) {
  return engine.info().continues_source ? "prompt" : "source";
}

class WhatFitsTest : public ::testing::TestWithParam<WhatFits> {};

TEST_P(WhatFitsTest, NamesWhatWouldFitAndThatFits) {
  const WhatFits& c = GetParam();
  const LoadedModel model = LoadWith(c.model, c.blocks);
  const Engine& engine = model.engine();
  for (const int tokens : {c.fit + 1, 45}) {
    const auto refused = engine.NewSequence(RequestOf(c, engine, tokens));
    EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(refused.status().message()),
        HasSubstr(absl::StrCat(InputName(engine), " has ", tokens, " tokens, ",
                               c.fit == 0 ? "none" : absl::StrCat(c.fit),
                               " would fit with as many new tokens: ")));
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr(absl::StrCat("the pool has ", c.blocks,
                                       " (kv_cache_bytes)")));
  }
  if (c.fit == 0) return;
  Driver driver(engine);
  const auto outputs = driver.Run({RequestOf(c, engine, c.fit)});
  EXPECT_TRUE(outputs[0].finished);
  EXPECT_EQ(driver.context().free_blocks(), c.blocks);
}

INSTANTIATE_TEST_SUITE_P(
    All, WhatFitsTest,
    ::testing::Values(
        // The last new token is not computed.
        WhatFits{"Prompt", kContinues, 3, 1, 5, 44},
        WhatFits{"PromptOfWholeBlocks", kContinues, 2, 1, 1, 32},
        WhatFits{"PromptOfBeams", kContinues, 5, 2, 4, 29},
        WhatFits{"PromptThatIsScored", kContinues, 2, 0, 3, 30},
        WhatFits{"NoPrompt", kContinues, 2, 3, 2, 0},
        WhatFits{"Source", kTranslates, 3, 1, 10, 32},
        WhatFits{"SourceOfBeams", kTranslates, 5, 3, 16, 32},
        WhatFits{"SourceOfWhatIsScored", kTranslates, 3, 0, 17, 16},
        WhatFits{"NoSource", kTranslates, 4, 4, 16, 0}),
    [](const auto& test) { return test.param.name; });

TEST(SourceLimitTest, OneMoreThanTheLimitIsRefused) {
  for (const char* name : {kContinues, kTranslates, kEncodes}) {
    const LoadedModel model =
        Load(GoldenDirectory(name), {.max_step_rows = 16,
                                     .max_source_tokens = 40,
                                     .kv_cache_bytes = 8 << 20});
    const Engine& engine = model.engine();
    EXPECT_EQ(engine.info().max_source_tokens, 40);
    const auto request = [&](int tokens) {
      return engine.info().embeds && !engine.info().generates
                 ? EngineRequest{Source(tokens), EmbedTask{}}
                 : EngineRequest{InputOf(engine.info(), Source(tokens)),
                                 ScoreTask{.target = {5}}};
    };
    const auto refused = engine.NewSequence(request(41));
    EXPECT_EQ(std::string(refused.status().message()),
              absl::StrCat(
                  InputName(engine),
                  " has 41 tokens, limits are 1 and 40 (max_source_tokens)"));
    EXPECT_TRUE(Driver(engine).Run({request(40)})[0].finished);
  }
}

}  // namespace
}  // namespace attend
