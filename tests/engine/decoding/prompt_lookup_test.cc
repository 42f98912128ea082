#include "engine/decoding/prompt_lookup.h"

#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(PromptLookupTest, DraftsWhatFollowedTheSameTokens) {
  PromptLookup lookup({});
  EXPECT_THAT(lookup.Draft({1, 2, 3, 4, 9, 1, 2}, {.most = 3}),
              ElementsAre(2, 3, 4, 9));
}

TEST(PromptLookupTest, OneTokenIsNoMatch) {
  PromptLookup lookup({});
  EXPECT_THAT(lookup.Draft({1, 2, 3, 9, 2}, {.most = 3}), ElementsAre(2));
  EXPECT_THAT(lookup.Draft({2}, {.most = 3}), ElementsAre(2));
}

TEST(PromptLookupTest, TheLongestMatchThenTheLastOne) {
  PromptLookup lookup({});
  // 7, 1, 2 stand at the beginning; 1, 2 come later, too.
  EXPECT_THAT(lookup.Draft({7, 1, 2, 5, 1, 2, 6, 7, 1, 2}, {.most = 1}),
              ElementsAre(2, 5));
  EXPECT_THAT(lookup.Draft({1, 2, 5, 1, 2, 6, 1, 2}, {.most = 1}),
              ElementsAre(2, 6));
}

TEST(PromptLookupTest, LooksThroughTheSourceToo) {
  PromptLookup lookup({20, 21, 22, 23});
  EXPECT_THAT(lookup.Draft({1, 20, 21}, {.most = 8}), ElementsAre(21, 22, 23));
  // What is nearer, if both match alike.
  EXPECT_THAT(lookup.Draft({20, 21, 30, 20, 21}, {.most = 1}),
              ElementsAre(21, 30));
}

TEST(PromptLookupTest, NoMoreThanThereIsRoomFor) {
  PromptLookup lookup({});
  const std::vector<int> tokens = {1, 2, 3, 4, 5, 1, 2};
  EXPECT_THAT(lookup.Draft(tokens, {.most = 0}), SizeIs(1));
  EXPECT_THAT(lookup.Draft(tokens, {.most = -1}), SizeIs(1));
  EXPECT_THAT(lookup.Draft(tokens, {.most = 2}), SizeIs(3));
}

TEST(PromptLookupTest, AcceptedDraftsMakeTheNextOneLonger) {
  std::vector<int> tokens(50);
  std::iota(tokens.begin(), tokens.end(), 0);
  tokens.insert(tokens.end(), {0, 1});
  PromptLookup lookup({});
  size_t before = 0;
  for (int i = 0; i < 5; ++i) {
    const size_t size = lookup.Draft(tokens, {.most = 100}).size();
    EXPECT_GE(size, before);
    before = size;
    lookup.Learn(static_cast<int>(size) - 1);
  }
  EXPECT_EQ(before, 1u + DraftPace::kMostTokens);
}

TEST(PromptLookupTest, RefusedDraftsBecomeShortAndRare) {
  const std::vector<int> tokens = {1, 2, 3, 4, 5, 6, 7, 1, 2};
  PromptLookup lookup({});
  int drafts = 0;
  size_t last = 0;
  for (int i = 0; i < 160; ++i) {
    const size_t size =
        lookup.Draft(tokens, {.most = 100, .least_accepted = 0.2f}).size();
    if (size == 1) continue;
    ++drafts;
    last = size;
    lookup.Learn(0);
  }
  EXPECT_LT(drafts, 16);
  EXPECT_GT(drafts, 10);
  EXPECT_EQ(last, 2u);
}

TEST(PromptLookupTest, AcceptedTrialsBringDraftsBack) {
  const std::vector<int> tokens = {1, 2, 3, 4, 5, 6, 7, 1, 2};
  const DraftLimits limits = {.most = 4, .least_accepted = 0.6f};
  PromptLookup lookup({});
  int drafts = 0;
  for (int i = 0; i < 40; ++i) {
    const size_t size = lookup.Draft(tokens, limits).size();
    if (size == 1) continue;
    ++drafts;
    lookup.Learn(static_cast<int>(size) - 1);
  }
  EXPECT_EQ(drafts, 40 - 15);
}

}  // namespace
}  // namespace attend
