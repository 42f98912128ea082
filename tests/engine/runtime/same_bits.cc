#include "tests/engine/runtime/same_bits.h"

#include "gtest/gtest.h"

namespace attend {

void ExpectSameBits(const ChoiceOutput& a, const ChoiceOutput& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.log_probs, b.log_probs);
  EXPECT_EQ(a.finish, b.finish);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.alignment, b.alignment);
  ASSERT_EQ(a.top.size(), b.top.size());
  for (size_t i = 0; i < a.top.size(); ++i) {
    EXPECT_EQ(a.top[i].id, b.top[i].id);
    EXPECT_EQ(a.top[i].log_prob, b.top[i].log_prob);
  }
}

void ExpectSameBits(const std::vector<SequenceOutput>& a,
                    const std::vector<SequenceOutput>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "request " << i);
    ExpectSameBits(a[i].prompt, b[i].prompt);
    ASSERT_EQ(a[i].choices.size(), b[i].choices.size());
    for (size_t j = 0; j < a[i].choices.size(); ++j) {
      ExpectSameBits(a[i].choices[j], b[i].choices[j]);
    }
  }
}

}  // namespace attend
