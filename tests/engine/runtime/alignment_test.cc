#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const SourceTokens kSource = {.ids = {9, 30, 7, 22, 41, 5, 13, 0}};

class AlignmentTest : public testing::TestWithParam<std::string> {
 protected:
  AlignmentTest()
      : loaded_(
            Load(GoldenDirectory(GetParam()), {.kv_cache_bytes = 8 << 20})) {}

  const Engine& engine() const { return loaded_.engine(); }
  GenerationParams Params() const {
    GenerationParams params = engine().info().generation;
    params.num_beams = 1;
    params.num_return_sequences = 1;
    params.max_new_tokens = 9;
    params.alignments = true;
    return params;
  }
  SequenceOutput Run(const GenerationParams& params) const {
    return Driver(engine()).Run({{kSource, GenerateTask{params}}})[0];
  }
  // That of a target which is known from the start.
  std::vector<float> AlignmentOf(std::vector<int> target) const {
    return Driver(engine())
        .Run({{kSource, ScoreTask{std::move(target), 0, true}}})[0]
        .choices[0]
        .alignment;
  }
  // The alignments of all results are those of the same targets, scored.
  void ExpectAligned(const GenerationParams& params) const {
    const SequenceOutput output = Run(params);
    ASSERT_EQ(output.choices.size(), params.num_return_sequences);
    for (const ChoiceOutput& choice : output.choices) {
      std::vector<int> target = params.forced_prefix;
      target.insert(target.end(), choice.tokens.begin(), choice.tokens.end());
      std::vector<float> expected = AlignmentOf(target);
      expected.erase(
          expected.begin(),
          expected.begin() + params.forced_prefix.size() * kSource.ids.size());
      EXPECT_EQ(choice.alignment, expected);
      EXPECT_EQ(choice.alignment.size(),
                choice.tokens.size() * kSource.ids.size());
    }
  }

 private:
  const LoadedModel loaded_;
};

TEST_P(AlignmentTest, OfGreedySearchIsThatOfTheSameTarget) {
  ExpectAligned(Params());
}

TEST_P(AlignmentTest, OfAllBeamsIsThatOfTheSameTargets) {
  GenerationParams params = Params();
  params.num_beams = 4;
  params.num_return_sequences = 3;
  ExpectAligned(params);
}

TEST_P(AlignmentTest, OfSamplesOfDifferentLengthsIsThatOfTheSameTargets) {
  GenerationParams params = Params();
  params.do_sample = true;
  params.top_k = 0;
  params.temperature = 5;
  params.num_return_sequences = 5;
  ExpectAligned(params);
}

TEST_P(AlignmentTest, LeavesTheForcedPrefixOut) {
  GenerationParams params = Params();
  params.forced_prefix = {9, 30};
  ExpectAligned(params);
}

TEST_P(AlignmentTest, OfEachTokenAddsUpToOne) {
  const SequenceOutput output = Run(Params());
  const std::vector<float>& weights = output.choices[0].alignment;
  const size_t width = kSource.ids.size();
  for (size_t first = 0; first < weights.size(); first += width) {
    float sum = 0;
    for (size_t i = 0; i < width; ++i) sum += weights[first + i];
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST_P(AlignmentTest, IsNotComputedUnlessAskedFor) {
  GenerationParams params = Params();
  Driver aligned(engine()), plain(engine());
  aligned.Run({{kSource, GenerateTask{params}}});
  params.alignments = false;
  EXPECT_THAT(
      plain.Run({{kSource, GenerateTask{params}}})[0].choices[0].alignment,
      IsEmpty());
  EXPECT_EQ(aligned.steps(), plain.steps() + 1);
}

INSTANTIATE_TEST_SUITE_P(Models, AlignmentTest,
                         testing::Values("marian/plain",
                                         "families/t5-few-buckets",
                                         "families/m2m_100-gelu"),
                         [](const auto& model) {
                           return TestNameOf(model.param);
                         });

TEST(AlignmentErrorsTest, ModelWithoutAnEncoder) {
  const LoadedModel loaded =
      Load(GoldenDirectory("families/gpt2-gelu"), {.kv_cache_bytes = 1 << 20});
  GenerationParams params = loaded.engine().info().generation;
  params.max_new_tokens = 4;
  params.alignments = true;
  EXPECT_THAT(
      loaded.engine().NewSequence({Prompt{{5}}, GenerateTask{params}}).status(),
      absl::InvalidArgumentError(
          "alignments are asked for, but the model has no encoder"));
  EXPECT_THAT(loaded.engine()
                  .NewSequence({Prompt{{5}}, ScoreTask{{6}, 0, true}})
                  .status(),
              absl::InvalidArgumentError(
                  "alignments are asked for, but the model has no encoder"));
}

TEST(AlignmentErrorsTest, TooManyNumbers) {
  const LoadedModel loaded =
      Load(ATTEND_SOURCE_DIR "/models/en-de",
           {.kv_cache_bytes = 256 << 20, .max_beams = 128});
  GenerationParams params = loaded.engine().info().generation;
  params.do_sample = true;
  params.num_beams = 1;
  params.num_return_sequences = 128;
  params.max_new_tokens = 500;
  params.alignments = true;
  const SourceTokens source = {.ids = std::vector<int>(500, 7)};
  EXPECT_THAT(
      loaded.engine().NewSequence({source, GenerateTask{params}}).status(),
      absl::InvalidArgumentError("alignments of 128 results of up to 500 "
                                 "tokens with 500 source tokens "
                                 "are 32000000 numbers, limit is 16777216"));
}

}  // namespace
}  // namespace attend
