// Requests that choose an adapter, alone and beside requests with others.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/ops/test_isa.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"
#include "tests/engine/runtime/same_bits.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kModel[] = "families/jina-v3-adapters";
constexpr int kHidden = 18;

LoadedModel LoadFor(ComputeType dtype, int threads = 1) {
  return Load(GoldenDirectory(kModel),
              {.max_step_rows = 64, .max_source_tokens = 56, .dtype = dtype},
              threads);
}

EngineRequest RequestOf(const json& golden, bool per_token = false) {
  return {.input = SourceOf(golden),
          .task = EmbedTask{.per_token = per_token},
          .adapter = golden["adapter"]};
}

class AdapterRequestsTest : public testing::TestWithParam<ComputeType> {
 protected:
  void SetUp() override {
    if (!CheckComputeType(GetParam(), TestIsa()).ok()) GTEST_SKIP();
    cases_ = ReadGolden(std::string(kModel) + "/expected.json")["adapted"];
    ASSERT_EQ(cases_.size(), 6u);
  }

  void Expect(const std::vector<double>& expected, const float* found) const {
    double error = 0;
    double squares = 0;
    for (size_t j = 0; j < expected.size(); ++j) {
      if (GetParam() == ComputeType::kF32) {
        EXPECT_NEAR(found[j], expected[j], Tolerance(expected[j])) << j;
      }
      error += std::pow(found[j] - expected[j], 2);
      squares += expected[j] * expected[j];
    }
    if (GetParam() == ComputeType::kF32) return;
    // Two layers of six products each: those of adapters come first.
    EXPECT_LT(std::sqrt(error / squares),
              RelativeBound(GetParam(), kHidden, 12));
    EXPECT_GT(error, 0) << "computed in f32?";
  }

  json cases_;
};

TEST_P(AdapterRequestsTest, ComputesWhatTheModelsOwnCodeComputes) {
  const LoadedModel loaded = LoadFor(GetParam());
  Driver driver(loaded.engine());
  for (const json& golden : cases_) {
    SCOPED_TRACE(golden["adapter"].dump() + golden["source"].dump());
    Expect(golden["embedding"],
           driver.Run({RequestOf(golden)})[0].values.data());
    if (!golden.contains("hidden")) continue;
    const std::vector<float> hidden =
        driver.Run({RequestOf(golden, true)})[0].values;
    for (size_t r = 0; r < golden["hidden"].size(); ++r) {
      Expect(golden["hidden"][r], &hidden[r * kHidden]);
    }
  }
}

// Steps of few rows cut sources, and have rows of several adapters and of none.
TEST_P(AdapterRequestsTest, ASourceHasTheSameBitsBesideOtherAdapters) {
  std::vector<EngineRequest> requests;
  for (const json& golden : cases_) {
    requests.push_back(RequestOf(golden));
    requests.push_back(RequestOf(golden, true));
    requests.push_back(RequestOf(golden));
    requests.back().adapter = -1;
  }
  const LoadedModel loaded = LoadFor(GetParam());
  const auto alone = RunAlone(loaded.engine(), requests);
  EXPECT_NE(alone[0].values, alone[2].values);
  const LoadedModel team = LoadFor(GetParam(), 2);
  for (const uint32_t seed : {0, 3, 8}) {
    Driver driver(team.engine(), {.max_rows = 24, .seed = seed});
    const auto together = driver.Run(requests);
    if (TestIsa() >= Isa::kAvx2) ExpectSameBits(together, alone);
    for (size_t i = 0; i < cases_.size(); ++i) {
      Expect(cases_[i]["embedding"], together[3 * i].values.data());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, AdapterRequestsTest,
                         testing::Values(ComputeType::kF32, ComputeType::kBf16,
                                         ComputeType::kInt8),
                         [](const auto& test) {
                           return std::string(TypeName(test.param));
                         });

TEST(AdaptersTest, AreNamedAsTheModelsFilesSay) {
  const LoadedModel loaded = LoadFor(ComputeType::kF32);
  const ModelInfo& info = loaded.engine().info();
  EXPECT_THAT(info.adapters, ElementsAre("retrieval.query", "retrieval.passage",
                                         "separation"));
  EXPECT_EQ(info.prompts.at("retrieval.passage"),
            "Represent the document for retrieval: ");
  EXPECT_EQ(info.default_prompt, "");
}

TEST(AdaptersTest, ARequestNamesOneOfThem) {
  const LoadedModel loaded = LoadFor(ComputeType::kF32);
  for (const int adapter : {-2, 3}) {
    const auto sequence =
        loaded.engine().NewSequence({.input = SourceTokens{.ids = {5, 6}},
                                     .task = EmbedTask{},
                                     .adapter = adapter});
    EXPECT_THAT(sequence.status().message(), HasSubstr("limits are -1 and 2"));
  }
  const LoadedModel none =
      Load(GoldenDirectory("families/bert-mask"), {.max_step_rows = 16});
  EXPECT_THAT(none.engine()
                  .NewSequence({.input = SourceTokens{.ids = {5, 6}},
                                .task = EmbedTask{},
                                .adapter = 0})
                  .status()
                  .message(),
              HasSubstr("adapter is 0, limits are -1 and -1"));
}

TEST(AdaptersTest, CachesAreOfOneAdapter) {
  EngineRequest request;
  request.cache_salt = 7;
  EXPECT_EQ(SaltOf(request), 7u);
  request.adapter = 0;
  const uint64_t first = SaltOf(request);
  EXPECT_EQ(SaltOf(request), first);
  EXPECT_NE(first, 7u);
  request.adapter = 1;
  EXPECT_NE(SaltOf(request), first);
  request.cache_salt = 8;
  request.adapter = 0;
  EXPECT_NE(SaltOf(request), first);
}

}  // namespace
}  // namespace attend
