// What requests of a decoder alone share, and that it shows in nothing but the
// rows computed.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/same_bits.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr int kBlock = KvLayout::kBlockTokens;

class PrefixCacheTest : public ::testing::TestWithParam<const char*> {
 protected:
  LoadedModel LoadWith(bool prefix_cache, int blocks = 40, int threads = 1,
                       int max_step_rows = 64) const {
    const std::string directory = GoldenDirectory(GetParam());
    return Load(directory,
                {.max_step_rows = max_step_rows,
                 .kv_cache_bytes = PoolBytes(directory, blocks),
                 .prefix_cache = prefix_cache},
                threads);
  }
};

std::vector<int> Tokens(int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> tokens(count);
  for (int& token : tokens) token = 3 + static_cast<int>(random() % 60);
  return tokens;
}

EngineRequest Generate(std::vector<int> prompt, int max_new) {
  GenerationParams params;
  params.max_new_tokens = max_new;
  params.log_probs = true;
  params.top_log_probs = 2;
  return {.input = Prompt{std::move(prompt)}, .task = GenerateTask{params}};
}

// Prompts that begin like one of a few, as far as chance takes it: greedy,
// samples, beams and scores, some with log-probabilities of the prompt.
std::vector<EngineRequest> Conversations(int count, uint32_t seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::vector<EngineRequest> requests;
  for (int i = 0; i < count; ++i) {
    std::vector<int> prompt = Tokens(70, draw(1, 3));
    prompt.resize(draw(1, 70));
    const std::vector<int> rest = Tokens(draw(0, 8), draw(4, 5));
    prompt.insert(prompt.end(), rest.begin(), rest.end());
    EngineRequest request = Generate(std::move(prompt), draw(1, 17));
    GenerationParams& params = std::get<GenerateTask>(request.task).params;
    params.prompt_log_probs = draw(0, 4) == 0;
    const int kind = draw(0, 3);
    if (kind == 0) {
      params.num_beams = params.num_return_sequences = draw(2, 3);
    } else if (kind == 1) {
      params.do_sample = true;
      params.seed = i;
      params.num_return_sequences = draw(1, 3);
    } else if (kind == 2) {
      request.task = ScoreTask{.target = Tokens(draw(1, 17), draw(6, 7)),
                               .top_log_probs = 2};
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

TEST_P(PrefixCacheTest, ResultsHaveTheSameBitsAsWithoutIt) {
  constexpr int kCount = kSanitized ? 40 : 100;
  const LoadedModel off = LoadWith(false);
  const auto alone = RunAlone(off.engine(), Conversations(kCount, 1));
  Driver without(off.engine());
  ExpectSameBits(without.Run(Conversations(kCount, 1)), alone);
  EXPECT_EQ(without.context().counts().queried_tokens, 0);
  int preemptions = 0;
  for (uint32_t order = 1; order <= 4; ++order) {
    SCOPED_TRACE(order);
    // From a pool that holds little more than one request, so that blocks are
    // taken from chains all the time, to one that keeps everything.
    const LoadedModel on = LoadWith(true, order % 4 == 0 ? 400 : 18 + order,
                                    1 + order % 3, 16 << order % 3);
    Driver driver(on.engine(), {.max_rows = 5 + static_cast<int>(order) * 5,
                                .seed = order,
                                .preempt_at_random = order % 2 == 0});
    ExpectSameBits(driver.Run(Conversations(kCount, 1)), alone);
    const StepCounts first = driver.context().counts();
    EXPECT_GT(first.hit_tokens, 0);
    EXPECT_LT(first.hit_tokens, first.queried_tokens);
    // And with what the first ones left.
    ExpectSameBits(driver.Run(Conversations(kCount, 1)), alone);
    const StepCounts both = driver.context().counts();
    EXPECT_GE(both.hit_tokens - first.hit_tokens, first.hit_tokens / 2);
    preemptions += driver.preemptions();
  }
  EXPECT_GT(preemptions, 0);
}

TEST_P(PrefixCacheTest, ASecondPromptComputesTheRestOnly) {
  const LoadedModel model = LoadWith(true, 40, 1, 16);
  Driver driver(model.engine());
  // A step of 16 rows for each block of the prompt, and one of one row for the
  // choice after it.
  const std::vector<int> prompt = Tokens(4 * kBlock + 3, 1);
  const auto first = driver.Run({Generate(prompt, 1)});
  EXPECT_EQ(driver.steps(), 6);
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
  const auto second = driver.Run({Generate(prompt, 1)});
  EXPECT_EQ(driver.steps(), 6 + 2);
  ExpectSameBits(first, second);
  const StepCounts counts = driver.context().counts();
  EXPECT_EQ(counts.queried_tokens, 2 * (4 * kBlock + 2));
  EXPECT_EQ(counts.hit_tokens, 4 * kBlock);
  // It asked for a step's rows, and needed two of them.
  EXPECT_EQ(counts.spared_rows, 16 - 2);
}

TEST_P(PrefixCacheTest, ARowOfThePromptIsAlwaysComputed) {
  const LoadedModel model = LoadWith(true);
  Driver driver(model.engine());
  // Of the last token is a decode row; the others fill blocks.
  const std::vector<int> prompt = Tokens(3 * kBlock + 1, 1);
  const auto first = driver.Run({Generate(prompt, 3)});
  ExpectSameBits(driver.Run({Generate(prompt, 3)}), first);
  EXPECT_EQ(driver.context().counts().hit_tokens, 2 * kBlock);
}

TEST_P(PrefixCacheTest, ANextTurnFindsWhatWasGenerated) {
  const LoadedModel model = LoadWith(true);
  Driver driver(model.engine());
  std::vector<int> prompt = Tokens(kBlock + 2, 1);
  EngineRequest request = Generate(prompt, 3 * kBlock);
  std::get<GenerateTask>(request.task).params.min_new_tokens = 3 * kBlock;
  const auto turn = driver.Run({request});
  const std::vector<int>& reply = turn[0].choices[0].tokens;
  ASSERT_EQ(reply.size(), 3u * kBlock);
  prompt.insert(prompt.end(), reply.begin(), reply.end());
  prompt.push_back(5);
  const auto next = driver.Run({Generate(prompt, 4)});
  EXPECT_EQ(driver.context().counts().hit_tokens, 4 * kBlock);
  const LoadedModel off = LoadWith(false);
  ExpectSameBits(Driver(off.engine()).Run({Generate(prompt, 4)}), next);
}

TEST_P(PrefixCacheTest, ScoresComputeTheRowsTheyNeed) {
  const LoadedModel model = LoadWith(true);
  Driver driver(model.engine());
  const EngineRequest score = {.input = Prompt{Tokens(2 * kBlock + 1, 1)},
                               .task = ScoreTask{.target = Tokens(20, 2)}};
  const auto first = driver.Run({score});
  EXPECT_EQ(first[0].choices[0].log_probs.size(), 20u);
  ExpectSameBits(driver.Run({score}), first);
  EXPECT_EQ(driver.context().counts().hit_tokens, 2 * kBlock);
  // The prompt's last row predicts the first token of the target.
  EngineRequest shorter = score;
  std::get<Prompt>(shorter.input).ids.pop_back();
  driver.Run({shorter});
  EXPECT_EQ(driver.context().counts().hit_tokens, 3 * kBlock);
}

TEST_P(PrefixCacheTest, PromptsThatComeTogetherShareTheWork) {
  const std::vector<int> prompt = Tokens(5 * kBlock + 4, 1);
  const LoadedModel off = LoadWith(false, 200);
  const auto expected = Driver(off.engine()).Run({Generate(prompt, 4)})[0];
  const LoadedModel on = LoadWith(true, 200, 2, 64);
  Driver driver(on.engine());
  const std::vector<EngineRequest> requests(8, Generate(prompt, 4));
  ExpectSameBits(driver.Run(requests),
                 std::vector<SequenceOutput>(8, expected));
  // 5 blocks of each of the others.
  EXPECT_GT(driver.context().counts().hit_tokens, 6 * 5 * kBlock);
}

// Prompts of another salt show neither in the counts nor in the results.
TEST_P(PrefixCacheTest, OtherSaltsFindNothing) {
  const LoadedModel model = LoadWith(true, 200);
  Driver driver(model.engine());
  EngineRequest generate = Generate(Tokens(3 * kBlock + 1, 1), 4);
  EngineRequest score = {.input = Prompt{Tokens(3 * kBlock + 1, 1)},
                         .task = ScoreTask{.target = Tokens(20, 2)}};
  const auto expected = driver.Run({generate, score});
  for (const uint64_t salt : {1, 2}) {
    generate.cache_salt = score.cache_salt = salt;
    const int64_t hits = driver.context().counts().hit_tokens;
    ExpectSameBits(driver.Run({generate}), {expected[0]});
    EXPECT_EQ(driver.context().counts().hit_tokens, hits);
    ExpectSameBits(driver.Run({generate, score}), expected);
    // The last token of a prompt to continue is computed in any case.
    EXPECT_EQ(driver.context().counts().hit_tokens, hits + (2 + 3) * kBlock);
  }
}

// Blocks of a step are shared before they are computed.
TEST_P(PrefixCacheTest, PromptsOfOtherSaltsThatComeTogetherShareNothing) {
  const LoadedModel model = LoadWith(true, 200, 2, 64);
  Driver driver(model.engine());
  std::vector<EngineRequest> requests(4,
                                      Generate(Tokens(5 * kBlock + 4, 1), 4));
  for (size_t i = 0; i < requests.size(); ++i) requests[i].cache_salt = i;
  driver.Run(requests);
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
}

TEST_P(PrefixCacheTest, BlocksThatOthersHoldAreNotItsOwn) {
  const LoadedModel model = LoadWith(true, 200);
  const auto context = model.engine().NewContext();
  const EngineRequest request = Generate(Tokens(2 * kBlock + 5, 1), 4);
  const auto start = [&] {
    auto sequence = *model.engine().NewSequence(request);
    const StepPlan plan = {.preempted = {},
                           .pieces = {{sequence.get(), sequence->Next().rows}}};
    EXPECT_TRUE(context->Step(plan).ok());
    return sequence;
  };
  const auto a = start();
  EXPECT_EQ(a->blocks(), 3);
  auto b = start();
  EXPECT_EQ(b->blocks(), 1);
  EXPECT_EQ(a->blocks(), 1);
  EXPECT_EQ(context->total_blocks() - context->free_blocks(), 4);
  b.reset();
  EXPECT_EQ(a->blocks(), 3);
}

INSTANTIATE_TEST_SUITE_P(DecodersAlone, PrefixCacheTest,
                         ::testing::Values("families/llama-4x-linear-rope",
                                           "families/mistral-4x-window",
                                           "families/llama-llama3-rope",
                                           "families/phi3-4x-longrope"),
                         [](const auto& test) {
                           return TestNameOf(test.param);
                         });

}  // namespace
}  // namespace attend
