#include "engine/decoding/shortlist.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/token_constraint.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

GenerationParams EndsWith(int eos) {
  GenerationParams params;
  params.eos_ids = {eos};
  return params;
}

class ShortlistTest : public ::testing::Test {
 protected:
  ShortlistTest() : shortlist_(100) {
    shortlist_.AddAlways({7, 3});
    shortlist_.Set({10}, {50, 20, 50});
    shortlist_.Set({11}, {21});
    shortlist_.Set({10, 11, 12}, {99, 60});
  }
  Shortlist shortlist_;
};

TEST_F(ShortlistTest, HasTheTargetsOfEachTokenAndOfSequences) {
  EXPECT_EQ(shortlist_.size(), 3);
  const GenerationParams params = EndsWith(0);
  EXPECT_THAT(shortlist_.Find({5, 10}, params), ElementsAre(0, 3, 7, 20, 50));
  EXPECT_THAT(shortlist_.Find({11, 10}, params),
              ElementsAre(0, 3, 7, 20, 21, 50));
  EXPECT_THAT(shortlist_.Find({10, 11, 12}, params),
              ElementsAre(0, 3, 7, 20, 21, 50, 60, 99));
  // Not in this order, and not all of them.
  EXPECT_THAT(shortlist_.Find({12, 11, 10}, params),
              ElementsAre(0, 3, 7, 20, 21, 50));
  EXPECT_THAT(shortlist_.Find({10, 11}, params),
              ElementsAre(0, 3, 7, 20, 21, 50));
}

TEST_F(ShortlistTest, TheLastTargetsOfASequenceCount) {
  shortlist_.Set({11}, {44});
  EXPECT_THAT(shortlist_.Find({11}, EndsWith(0)), ElementsAre(0, 3, 7, 44));
}

TEST_F(ShortlistTest, HasWhatTheRequestNames) {
  GenerationParams params = EndsWith(90);
  params.stop_ids = {91};
  params.forced_bos_id = 92;
  params.forced_eos_id = 93;
  params.force_words = {{{80, 81}, {82}}};
  params.sequence_bias = {{{70, 71}, 2.0f}, {{72}, -2.0f}};
  EXPECT_THAT(shortlist_.Find({5}, params),
              ElementsAre(3, 7, 70, 71, 80, 81, 82, 90, 91, 92, 93));
}

TEST_F(ShortlistTest, AConstraintMayNeedAnyToken) {
  GenerationParams params = EndsWith(0);
  params.constraint = std::make_shared<TokenConstraint>(TokenRules{
      .vocab = 100, .allows = [](const auto&, int) { return true; }});
  EXPECT_THAT(shortlist_.Find({10}, params), IsEmpty());
}

TEST(EmptyShortlistTest, HasOneTokenBecauseNoneWouldMeanAll) {
  Shortlist shortlist(100);
  shortlist.Set({10}, {});
  EXPECT_THAT(shortlist.Find({10}, {}), ElementsAre(0));
}

}  // namespace
}  // namespace attend
