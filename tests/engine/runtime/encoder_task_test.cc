#include "engine/runtime/encoder_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

TransformerSpec MakeSpec(bool normalize) {
  TransformerSpec spec;
  spec.hidden = 3;
  spec.embed.normalize = normalize;
  return spec;
}

std::vector<float> Embed(const EmbedTask& task, const TransformerSpec& spec) {
  auto made = EncoderTask::Create(task, spec, /*rows=*/5);
  EXPECT_TRUE(made.ok()) << made.status();
  const float vector[] = {3, 4, 12};
  (*made)->Take((*made)->parts()[0], 0, vector);
  EXPECT_TRUE((*made)->output().finished);
  return (*made)->output().values;
}

TEST(EncoderTaskTest, VectorsAreScaledAsTheModelOrTheRequestSays) {
  EXPECT_THAT(Embed({}, MakeSpec(false)), ElementsAre(3, 4, 12));
  EXPECT_THAT(
      Embed({}, MakeSpec(true)),
      ElementsAre(FloatEq(3. / 13), FloatEq(4. / 13), FloatEq(12. / 13)));
  EXPECT_THAT(Embed({.normalize = false}, MakeSpec(true)),
              ElementsAre(3, 4, 12));
  EXPECT_THAT(Embed({.normalize = true}, MakeSpec(false))[0], FloatEq(3. / 13));
}

TEST(EncoderTaskTest, VectorsAreCutBeforeTheyAreScaled) {
  EXPECT_THAT(Embed({.dimensions = 2}, MakeSpec(false)), ElementsAre(3, 4));
  EXPECT_THAT(Embed({.dimensions = 2}, MakeSpec(true)),
              ElementsAre(FloatEq(0.6f), FloatEq(0.8f)));
}

TEST(EncoderTaskTest, APromptThatIsNotPooledLeavesATokenToPool) {
  TransformerSpec spec = MakeSpec(false);
  const EmbedTask task = {.prompt_tokens = 5};
  EXPECT_TRUE(EncoderTask::Create(task, spec, /*rows=*/5).ok());
  spec.embed.pools_prompt = false;
  EXPECT_TRUE(EncoderTask::Create(task, spec, /*rows=*/6).ok());
  EXPECT_THAT(EncoderTask::Create(task, spec, /*rows=*/5).status().message(),
              HasSubstr("the prompt has 5 tokens of 5"));
}

TEST(EncoderTaskTest, DimensionsOutOfRange) {
  for (const int dimensions : {-1, 4}) {
    EXPECT_THAT(EncoderTask::Create(EmbedTask{.dimensions = dimensions},
                                    MakeSpec(false), 5)
                    .status()
                    .message(),
                HasSubstr("limits are 0 and 3"));
  }
}

}  // namespace
}  // namespace attend
