// More masks in a source than a step has rows.

#include <numeric>

#include "gtest/gtest.h"
#include "tests/engine/runtime/driver.h"
#include "tests/engine/runtime/golden.h"

namespace attend {
namespace {

SequenceOutput FillAll(int max_step_rows) {
  const LoadedModel model = Load(GoldenDirectory("families/bert-mask"),
                                 {.max_step_rows = max_step_rows,
                                  .max_source_tokens = 48,
                                  .kv_cache_bytes = 0});
  EngineRequest request;
  SourceTokens source{.ids = std::vector<int>(40)};
  std::iota(source.ids.begin(), source.ids.end(), 5);
  request.input = source;
  FillMaskTask task = {.rows = std::vector<int>(40), .top = 3};
  std::iota(task.rows.begin(), task.rows.end(), 0);
  request.task = task;
  return Driver(model.engine()).Run({request})[0];
}

TEST(ManyMasksTest, AreFilledInPartsWithTheSameResults) {
  const SequenceOutput expected = FillAll(64);
  const SequenceOutput found = FillAll(16);
  ASSERT_EQ(expected.choices.size(), 40u);
  ASSERT_EQ(found.choices.size(), 40u);
  for (size_t i = 0; i < 40; ++i) {
    for (size_t t = 0; t < 3; ++t) {
      EXPECT_EQ(found.choices[i].top[t].id, expected.choices[i].top[t].id);
      EXPECT_EQ(found.choices[i].top[t].log_prob,
                expected.choices[i].top[t].log_prob);
    }
  }
}

}  // namespace
}  // namespace attend
