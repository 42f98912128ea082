// Models whose texts take several routes: requests of all routes in one step.

#include "engine/runtime/routed_engine.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/same_bits.h"

namespace attend {
namespace {

// Requests of each route, of several lengths.
std::vector<EngineRequest> Requests(const ModelInfo& info) {
  std::vector<EngineRequest> requests;
  for (int i = 0; i < 24; ++i) {
    const int route = i % static_cast<int>(info.routes.size());
    const ModelInfo& own = info.routes[route];
    EmbedTask task = {
        .pooled = own.pools, .sparse = own.weighs_tokens, .route = route};
    SourceTokens tokens;
    for (int t = 0; t <= i % 7; ++t) tokens.ids.push_back(3 + (i * 5 + t) % 50);
    requests.push_back({.input = tokens, .task = task});
  }
  return requests;
}

class RoutedEngineTest : public testing::TestWithParam<const char*> {};

TEST_P(RoutedEngineTest, ABatchOfAllRoutesHasTheBitsOfRequestsAlone) {
  const LoadedModel model =
      Load(GoldenDirectory(std::string("sentence/") + GetParam()),
           {.max_step_rows = 16,
            .max_source_tokens = 32,
            .kv_cache_bytes = 1 << 20});
  const Engine& engine = model.engine();
  ASSERT_EQ(engine.info().routes.size(), 2u);
  const auto alone = RunAlone(engine, Requests(engine.info()));
  ExpectSameBits(Driver(engine).Run(Requests(engine.info())), alone);
  for (const uint32_t seed : {1, 2}) {
    Driver driver(engine, {.max_rows = 11, .seed = seed});
    ExpectSameBits(driver.Run(Requests(engine.info())), alone);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RoutedEngineTest,
                         testing::Values("asym", "shared", "two", "table",
                                         "inference_free", "idf", "decoders",
                                         "mixed"));

// Preemption gives blocks of one decoder back for the other.
TEST(RoutedEngineTest, DecodersThatArePreemptedHaveTheSameBits) {
  const LoadedModel model =
      Load(GoldenDirectory("sentence/decoders"), {.max_step_rows = 16,
                                                  .max_source_tokens = 40,
                                                  .kv_cache_bytes = 24 << 10});
  const Engine& engine = model.engine();
  std::vector<EngineRequest> requests;
  for (int i = 0; i < 30; ++i) {
    SourceTokens tokens;
    for (int t = 0; t < 20 + i % 17; ++t) {
      tokens.ids.push_back(3 + (i * 7 + t) % 50);
    }
    requests.push_back({.input = tokens, .task = EmbedTask{.route = i % 2}});
  }
  const auto alone = RunAlone(engine, requests);
  int preemptions = 0;
  for (const uint32_t seed : {1, 2, 3}) {
    Driver driver(engine,
                  {.max_rows = 9, .seed = seed, .preempt_at_random = true});
    ExpectSameBits(driver.Run(requests), alone);
    preemptions += driver.preemptions();
    EXPECT_EQ(driver.context().free_blocks(), driver.context().total_blocks());
  }
  EXPECT_GT(preemptions, 0);
}

// The memory that the scheduler counts as held is free again when it is given
// back, whichever route held it; else a plan for another route might not fit.
TEST(RoutedEngineTest, MemoryThatOneRouteGivesBackIsFreeForAnother) {
  for (const char* name : {"two", "mixed", "decoders"}) {
    SCOPED_TRACE(name);
    const LoadedModel model =
        Load(GoldenDirectory(std::string("sentence/") + name),
             {.max_step_rows = 64,
              .max_source_tokens = 56,
              .kv_cache_bytes = 1 << 20});
    const auto context = model.engine().NewContext();
    const int all_rows = context->free_encode_rows();
    const int all_blocks = context->free_blocks();
    EXPECT_EQ(all_rows, context->total_encode_rows());
    EXPECT_EQ(all_blocks, context->total_blocks());
    std::vector<std::unique_ptr<Sequence>> sequences;
    int rows = 0;
    int blocks = 0;
    for (const int route : {0, 1, 0, 1}) {
      const int tokens = 4 + 3 * route;
      sequences.push_back(*model.engine().NewSequence(
          {.input = SourceTokens{.ids = std::vector<int>(tokens, 7)},
           .task = EmbedTask{.route = route}}));
      Sequence& sequence = *sequences.back();
      rows += sequence.Next().encode_rows;
      // A part of it, so that it keeps what it takes.
      ASSERT_TRUE(
          context->Step({.preempted = {}, .pieces = {{&sequence, 3}}}).ok());
      blocks += sequence.blocks();
      EXPECT_EQ(context->free_encode_rows(), all_rows - rows);
      EXPECT_EQ(context->free_blocks(), all_blocks - blocks);
    }
    EXPECT_GT(rows + blocks, 0);
    for (const auto& sequence : sequences) {
      ASSERT_TRUE(
          context->Step({.preempted = {sequence.get()}, .pieces = {}}).ok());
    }
    EXPECT_EQ(context->free_encode_rows(), all_rows);
    EXPECT_EQ(context->free_blocks(), all_blocks);
  }
}

TEST(RoutedEngineTest, ARouteThatIsNotThereIsRefused) {
  for (const char* name : {"shared", "two"}) {
    const LoadedModel model =
        Load(GoldenDirectory(std::string("sentence/") + name), {});
    for (const int route : {-1, 2}) {
      const auto sequence =
          model.engine().NewSequence({.input = SourceTokens{.ids = {5}},
                                      .task = EmbedTask{.route = route}});
      EXPECT_EQ(sequence.status().message(),
                "route is " + std::to_string(route) + ", must be in [0, 2)");
    }
  }
}

// The table takes texts that are longer than all that the encoder holds.
TEST(RoutedEngineTest, LongTextsOfOneRouteFitBesideShortOnesOfAnother) {
  const LoadedModel model =
      Load(GoldenDirectory("sentence/table"), {.max_step_rows = 16});
  const Engine& engine = model.engine();
  const auto context = engine.NewContext();
  std::vector<EngineRequest> requests;
  for (const int tokens : {3000, 56, 2000, 40, 3000}) {
    const bool query = tokens > 56;
    const RoleRoutes& roles = engine.info().role_routes;
    requests.push_back(
        {.input = SourceTokens{.ids = std::vector<int>(tokens, 7)},
         .task = EmbedTask{.route = query ? roles.query : roles.document}});
    const auto sequence = engine.NewSequence(requests.back());
    ASSERT_TRUE(sequence.ok()) << sequence.status();
    EXPECT_LE((*sequence)->Next().encode_rows, context->total_encode_rows());
  }
  ExpectSameBits(Driver(engine).Run(requests), RunAlone(engine, requests));
}

TEST(RoutedEngineTest, EachRouteHasItsOwnLimits) {
  const LoadedModel model =
      Load(GoldenDirectory("sentence/inference_free"), {});
  const ModelInfo& info = model.engine().info();
  const ModelInfo& query = info.routes[info.role_routes.query];
  const ModelInfo& document = info.routes[info.role_routes.document];
  EXPECT_EQ(info.role_routes.text, info.role_routes.document);
  EXPECT_EQ(query.max_text_tokens, 9);
  EXPECT_FALSE(query.adds_special);
  EXPECT_FALSE(query.weighs_vocabulary);
  EXPECT_EQ(document.max_text_tokens, 56);
  EXPECT_TRUE(document.weighs_vocabulary);
  EXPECT_EQ(model.model.route_tokenizers[info.role_routes.document], nullptr);
  EXPECT_NE(model.model.route_tokenizers[info.role_routes.query], nullptr);
}

}  // namespace
}  // namespace attend
