// Heads that read the decoder of an encoder-decoder, beyond what their golden
// results show.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class DecoderHeadsTest : public testing::TestWithParam<std::string> {
 protected:
  const LoadedModel model_ =
      Load(GoldenDirectory(GetParam()), {.max_step_rows = 64,
                                         .max_source_tokens = 48,
                                         .kv_cache_bytes = 8 << 20});
};

EngineRequest Labels(std::vector<int> ids) {
  return {.input = SourceTokens{.ids = std::move(ids)}, .task = ClassifyTask{}};
}

TEST_P(DecoderHeadsTest, ASourceHasAnEnd) {
  const int end = model_.engine().info().generation.eos_ids.front();
  EXPECT_THAT(
      std::string(
          model_.engine().NewSequence(Labels({10, 11, 12})).status().message()),
      HasSubstr("has no end of sequence"));
  EXPECT_TRUE(model_.engine().NewSequence(Labels({10, end, 12})).ok());
}

INSTANTIATE_TEST_SUITE_P(
    Models, DecoderHeadsTest,
    testing::Values("families/bart-inference", "families/t5-labels",
                    "families/mbart-labels", "families/plbart-labels"),
    [](const auto& test) { return TestNameOf(test.param); });

}  // namespace
}  // namespace attend
