#include "tests/engine/runtime/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::ElementsAreArray;

constexpr char kRegenerate[] =
    "regenerate with: python tests/golden/make_golden.py";

// What is continued has no positions: a mask leaves no holes in it.
EngineInput InputFor(const json& golden, const Engine& engine) {
  return InputOf(engine.info(), SourceOf(golden));
}

EngineRequest Generate(const json& golden, const Engine& engine) {
  GenerationParams params =
      ParamsOf(golden["params"], engine.info().generation);
  params.log_probs = true;
  return {.input = InputFor(golden, engine), .task = GenerateTask{params}};
}

void ExpectChoices(const json& golden, const SequenceOutput& output) {
  ASSERT_EQ(output.choices.size(), golden["choices"].size());
  for (size_t i = 0; i < output.choices.size(); ++i) {
    const json& expected = golden["choices"][i];
    const ChoiceOutput& choice = output.choices[i];
    EXPECT_THAT(choice.tokens,
                ElementsAreArray(expected["ids"].get<std::vector<int>>()))
        << "choice " << i;
    if (expected.contains("score")) {
      EXPECT_NEAR(choice.score, expected["score"], 1e-4);
    }
    if (!expected.contains("log_probs")) continue;
    const std::vector<double> log_probs = expected["log_probs"];
    ASSERT_EQ(choice.log_probs.size(), log_probs.size());
    for (size_t t = 0; t < log_probs.size(); ++t) {
      EXPECT_NEAR(choice.log_probs[t], log_probs[t], Tolerance(log_probs[t]));
    }
  }
}

void ExpectAlignment(const json& golden, const ChoiceOutput& choice) {
  std::vector<double> expected;
  for (const json& row : golden) {
    expected.insert(expected.end(), row.begin(), row.end());
  }
  ASSERT_EQ(choice.alignment.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(choice.alignment[i], expected[i], Tolerance(expected[i]));
  }
}

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  GoldenTest() : expected_(ReadExpected(GetParam())), loaded_(LoadFor(1)) {}

  static LoadedModel LoadFor(int threads) {
    return Load(GoldenDirectory(GetParam()),
                {.max_step_rows = 64,
                 .max_source_tokens = 48,
                 .kv_cache_bytes = 8 << 20},
                threads);
  }

  const json expected_;
  const LoadedModel loaded_;
};

TEST_P(GoldenTest, GeneratesWhatTransformersGenerates) {
  Driver driver(loaded_.engine());
  for (const json& golden : expected_.value("generate", json::array())) {
    SCOPED_TRACE(golden["name"].get<std::string>() + " " +
                 golden["params"].dump() + "; " + kRegenerate);
    ExpectChoices(golden, driver.Run({Generate(golden, loaded_.engine())})[0]);
  }
}

TEST_P(GoldenTest, GeneratesTheSameInCompanyAndInPieces) {
  const LoadedModel team = LoadFor(2);
  std::vector<EngineRequest> requests;
  const json cases = expected_.value("generate", json::array());
  for (const json& golden : cases) {
    requests.push_back(Generate(golden, team.engine()));
  }
  Driver driver(team.engine(), {.max_rows = 24, .seed = 7});
  const auto outputs = driver.Run(std::move(requests));
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i]["name"].get<std::string>() + " " +
                 cases[i]["params"].dump() + "; " + kRegenerate);
    ExpectChoices(cases[i], outputs[i]);
  }
}

TEST_P(GoldenTest, ScoresWhatTransformersScores) {
  Driver driver(loaded_.engine());
  for (const json& golden : expected_.value("score", json::array())) {
    SCOPED_TRACE(kRegenerate);
    const std::vector<int> target = golden["target"];
    const SequenceOutput output = driver.Run(
        {{.input = InputFor(golden, loaded_.engine()),
          .task = ScoreTask{.target = target,
                            .alignments = golden.contains("alignment")}}})[0];
    const ChoiceOutput& choice = output.choices.at(0);
    EXPECT_THAT(choice.tokens, ElementsAreArray(target));
    ASSERT_EQ(choice.log_probs.size(), target.size());
    for (size_t t = 0; t < target.size(); ++t) {
      const double expected = golden["log_probs"][t];
      EXPECT_NEAR(choice.log_probs[t], expected, Tolerance(expected));
    }
    EXPECT_NEAR(choice.score, golden["sum"].get<double>(),
                target.size() * Tolerance(golden["sum"]));
    ExpectAlignment(golden.value("alignment", json::array()), choice);
  }
}

// Source and target are a prompt together, but for the last token, which was no
// part of what was computed: positions may depend on the length of that.
TEST_P(GoldenTest, ScoresPromptsAsTransformersDoes) {
  if (!loaded_.engine().info().continues_source) return;
  std::vector<EngineRequest> requests;
  const json cases = expected_.value("score", json::array());
  for (const json& golden : cases) {
    GenerationParams params;
    params.forced_prefix = golden["target"].get<std::vector<int>>();
    params.forced_prefix.pop_back();
    params.max_new_tokens = 1;
    params.prompt_log_probs = true;
    requests.push_back({.input = InputFor(golden, loaded_.engine()),
                        .task = GenerateTask{params}});
  }
  ASSERT_FALSE(requests.empty());
  Driver driver(loaded_.engine(), {.max_rows = 24, .seed = 7});
  const auto outputs = driver.Run(std::move(requests));
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(kRegenerate);
    std::vector<double> expected = cases[i]["log_probs"];
    expected.pop_back();
    const std::vector<float>& found = outputs[i].prompt.log_probs;
    ASSERT_GE(found.size(), expected.size());
    for (size_t t = 0; t < expected.size(); ++t) {
      EXPECT_NEAR(found[found.size() - expected.size() + t], expected[t],
                  Tolerance(expected[t]));
    }
  }
}

TEST_P(GoldenTest, EmbedsTokensAsTheEncoderLeavesThem) {
  Driver driver(loaded_.engine());
  for (const json& golden : expected_.value("encoder", json::array())) {
    SCOPED_TRACE(kRegenerate);
    const SequenceOutput output = driver.Run(
        {{.input = SourceOf(golden), .task = EmbedTask{.per_token = true}}})[0];
    const int count = static_cast<int>(output.values.size()) / output.width;
    const std::vector<int> rows = RowsOf(golden, count);
    ASSERT_EQ(rows.size(), golden["hidden"].size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::vector<double> expected = golden["hidden"][i];
      const float* found = output.values.data() + rows[i] * output.width;
      for (size_t j = 0; j < expected.size(); ++j) {
        ASSERT_NEAR(found[j], expected[j], Tolerance(expected[j]));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenTest, testing::ValuesIn(GoldenModels()),
                         [](const auto& model) {
                           return TestNameOf(model.param);
                         });

// Files of llama.cpp's format compute what the directories compute that they
// were made of, and quantised ones what the same numbers give in f32.
INSTANTIATE_TEST_SUITE_P(Ggufs, GoldenTest, testing::ValuesIn(GoldenGgufs()),
                         [](const auto& model) {
                           return TestNameOf(model.param);
                         });

// Quantised directories compute what their numbers compute in f32.
INSTANTIATE_TEST_SUITE_P(Quantized, GoldenTest,
                         testing::ValuesIn(GoldenQuantized()),
                         [](const auto& model) {
                           return TestNameOf(model.param);
                         });

// Sentences whose ids the next float of any sum may change stand on the golden
// file's own list; there another result is reported and not a failure.
class BundledModelTest : public testing::TestWithParam<bool> {};

TEST_P(BundledModelTest, Translates200SentencesAsTransformersDoes) {
  const bool beams = GetParam();
  const json expected = ReadGolden("en-de/expected.json");
  const char* kind = beams ? "beam4" : "greedy";
  const std::vector<int> low_margin = expected["low_margin"][kind];
  const LoadedModel loaded =
      Load(ATTEND_SOURCE_DIR "/models/en-de",
           {.max_step_rows = 512, .kv_cache_bytes = 256 << 20});

  GenerationParams params = loaded.engine().info().generation;
  params.max_new_tokens = 128;
  params.num_beams = beams ? 4 : 1;
  std::vector<EngineRequest> requests;
  const json& sentences = expected["sentences"];
  ASSERT_EQ(sentences.size(), 200u);
  const size_t count = kSanitized ? 10 : sentences.size();
  for (size_t i = 0; i < count; ++i) {
    requests.push_back({.input = SourceTokens{.ids = sentences[i]["ids"]},
                        .task = GenerateTask{params}});
  }
  Driver driver(loaded.engine());
  const auto outputs = driver.Run(std::move(requests));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const json& golden = sentences[i][kind];
    SCOPED_TRACE(sentences[i]["text"].dump() + "; " + kRegenerate);
    const ChoiceOutput& choice = outputs[i].choices.at(0);
    if (std::count(low_margin.begin(), low_margin.end(), i)) {
      if (choice.tokens != golden["ids"].get<std::vector<int>>()) {
        std::printf("sentence %zu differs within its margin of %s\n", i,
                    golden["margin"].dump().c_str());
      }
      continue;
    }
    EXPECT_THAT(choice.tokens,
                ElementsAreArray(golden["ids"].get<std::vector<int>>()));
    if (beams) {
      EXPECT_NEAR(choice.score, golden["score"].get<double>(), 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(GreedyAndBeams, BundledModelTest, testing::Bool(),
                         [](const auto& beams) {
                           return beams.param ? "Beam4" : "Greedy";
                         });

}  // namespace
}  // namespace attend
