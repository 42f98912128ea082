#include "engine/decoding/draft_pace.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::ElementsAre;

// The calls without a draft before each of `drafts` drafts, of which `accepted`
// tokens are accepted.
std::vector<int> Gaps(DraftPace& pace, int drafts, int accepted) {
  const DraftLimits limits = {.most = 4, .least_accepted = 0.6f};
  std::vector<int> gaps(drafts);
  for (int& gap : gaps) {
    int drafted = 0;
    while ((drafted = pace.Next(limits)) == 0) ++gap;
    pace.Learn(accepted, drafted);
  }
  return gaps;
}

TEST(DraftPaceTest, RefusedTrialsBecomeRarer) {
  DraftPace pace({.first = 4, .most = 20});
  EXPECT_THAT(Gaps(pace, 5, 0), ElementsAre(3, 7, 15, 19, 19));
}

TEST(DraftPaceTest, AnAcceptedTrialBringsTheFirstNumberBack) {
  DraftPace pace({.first = 4, .most = 20}, /*accepted=*/0);
  Gaps(pace, 4, 0);
  // Its length is 1 by now.
  EXPECT_THAT(Gaps(pace, 2, 1), ElementsAre(19, 3));
}

TEST(DraftPaceTest, WhoIsExpectedToBeAcceptedWaitsForNothing) {
  DraftPace pace({.first = 4, .most = 20}, /*accepted=*/0.7f);
  EXPECT_THAT(Gaps(pace, 1, 4), ElementsAre(0));
}

}  // namespace
}  // namespace attend
