// What requests of the same source share, and that it shows in nothing but the
// rows computed.

#include <string>
#include <utility>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/random_requests.h"
#include "tests/engine/runtime/same_bits.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr int kBlock = KvLayout::kBlockTokens;

class SourceCacheTest : public ::testing::TestWithParam<const char*> {
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

  static std::vector<int> Source(int count) {
    std::vector<int> ids(count);
    for (int i = 0; i < count; ++i) ids[i] = 3 + i * 7 % 29;
    return ids;
  }

  static EngineRequest Generate(const Engine& engine, SourceTokens source) {
    GenerationParams params = engine.info().generation;
    params.max_new_tokens = 4;
    params.log_probs = true;
    return {.input = std::move(source), .task = GenerateTask{params}};
  }

  // Requests of all kinds, of a few sources.
  static std::vector<EngineRequest> FewSources(const Engine& engine) {
    std::vector<EngineRequest> requests =
        RandomRequests(engine, kSanitized ? 36 : 60, 2 * kBlock + 3, 12, 1);
    for (size_t i = 12; i < requests.size(); ++i) {
      requests[i].input = requests[i % 12].input;
    }
    return requests;
  }
};

TEST_P(SourceCacheTest, ResultsHaveTheSameBitsAsWithoutIt) {
  const LoadedModel off = LoadWith(false);
  const auto alone = RunAlone(off.engine(), FewSources(off.engine()));
  Driver without(off.engine());
  ExpectSameBits(without.Run(FewSources(off.engine())), alone);
  EXPECT_EQ(without.context().counts().queried_tokens, 0);
  int preemptions = 0;
  for (uint32_t order = 1; order <= 4; ++order) {
    SCOPED_TRACE(order);
    // From a pool that holds little more than one request to one that keeps
    // everything.
    const LoadedModel on = LoadWith(true, order % 4 == 0 ? 400 : 18 + order,
                                    1 + order % 3, 16 << order % 3);
    Driver driver(on.engine(), {.max_rows = 5 + static_cast<int>(order) * 5,
                                .seed = order,
                                .preempt_at_random = order % 2 == 0});
    ExpectSameBits(driver.Run(FewSources(on.engine())), alone);
    const StepCounts counts = driver.context().counts();
    EXPECT_GT(counts.hit_tokens, 0);
    EXPECT_LT(counts.hit_tokens, counts.queried_tokens);
    preemptions += driver.preemptions();
  }
  EXPECT_GT(preemptions, 0);
}

TEST_P(SourceCacheTest, ASecondRequestEncodesNothing) {
  const LoadedModel model = LoadWith(true);
  Driver driver(model.engine());
  const EngineRequest request =
      Generate(model.engine(), {.ids = Source(kBlock + 3)});
  const auto first = driver.Run({request});
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
  EXPECT_EQ(driver.context().counts().spared_rows, 0);
  ExpectSameBits(driver.Run({request}), first);
  const StepCounts counts = driver.context().counts();
  EXPECT_EQ(counts.queried_tokens, 2 * (kBlock + 3));
  EXPECT_EQ(counts.hit_tokens, kBlock + 3);
  EXPECT_GE(counts.spared_rows, kBlock + 3);
}

TEST_P(SourceCacheTest, OtherSaltsFindNothing) {
  const LoadedModel model = LoadWith(true);
  Driver driver(model.engine());
  EngineRequest request = Generate(model.engine(), {.ids = Source(kBlock + 3)});
  const auto first = driver.Run({request});
  request.cache_salt = 1;
  ExpectSameBits(driver.Run({request}), first);
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
  ExpectSameBits(driver.Run({request}), first);
  EXPECT_EQ(driver.context().counts().hit_tokens, kBlock + 3);
}

TEST_P(SourceCacheTest, ASourceThatBeginsAlikeIsAnother) {
  const LoadedModel model = LoadWith(true);
  Driver driver(model.engine());
  driver.Run({Generate(model.engine(), {.ids = Source(2 * kBlock + 3)})});
  for (int length : {kBlock, 2 * kBlock, 2 * kBlock + 2, 2 * kBlock + 4}) {
    driver.Run({Generate(model.engine(), {.ids = Source(length)})});
  }
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
}

// The tokens are the same, but not what is between them.
TEST_P(SourceCacheTest, ASourceWithHolesIsNotShared) {
  const LoadedModel model = LoadWith(true);
  Driver driver(model.engine());
  SourceTokens source{.ids = Source(5)};
  driver.Run({Generate(model.engine(), source)});
  source.positions = {0, 1, 2, 4, 5};
  const EngineRequest holes = Generate(model.engine(), source);
  const auto first = driver.Run({holes});
  ExpectSameBits(driver.Run({holes}), first);
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
  source.positions = {0, 1, 2, 3, 4};  // none
  driver.Run({Generate(model.engine(), source)});
  EXPECT_EQ(driver.context().counts().hit_tokens, 5);
}

// What a decoder has attended to of its source is in its own keys and values:
// the same beginning after another source is something else.
TEST_P(SourceCacheTest, DecoderRowsAreNotShared) {
  const LoadedModel on = LoadWith(true);
  const LoadedModel off = LoadWith(false);
  Driver driver(on.engine());
  for (const int length : {5, 7}) {
    EngineRequest request = Generate(on.engine(), {.ids = Source(length)});
    std::get<GenerateTask>(request.task).params.forced_prefix =
        Source(2 * kBlock + 3);
    ExpectSameBits(driver.Run({request}), Driver(off.engine()).Run({request}));
  }
  EXPECT_EQ(driver.context().counts().hit_tokens, 0);
}

TEST_P(SourceCacheTest, BlocksThatOthersHoldAreNotItsOwn) {
  const LoadedModel model = LoadWith(true);
  const auto context = model.engine().NewContext();
  const EngineRequest request =
      Generate(model.engine(), {.ids = Source(kBlock + 3)});
  const auto start = [&] {
    auto sequence = *model.engine().NewSequence(request);
    while (sequence->Next().phase == Phase::kEncode) {
      const StepPlan plan = {
          .preempted = {}, .pieces = {{sequence.get(), sequence->Next().rows}}};
      EXPECT_TRUE(context->Step(plan).ok());
    }
    return sequence;
  };
  const auto a = start();
  EXPECT_EQ(a->blocks(), 2);
  auto b = start();
  EXPECT_EQ(a->blocks(), 0);
  EXPECT_EQ(b->blocks(), 0);
  EXPECT_EQ(context->total_blocks() - context->free_blocks(), 2);
  b.reset();
  EXPECT_EQ(a->blocks(), 2);
}

INSTANTIATE_TEST_SUITE_P(EncodersWithDecoders, SourceCacheTest,
                         ::testing::Values("marian/plain", "families/bart-gelu",
                                           "families/m2m_100-gelu",
                                           "families/mbart-relu-long"),
                         [](const auto& test) {
                           return TestNameOf(test.param);
                         });

}  // namespace
}  // namespace attend
