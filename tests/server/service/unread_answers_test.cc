#include "server/service/unread_answers.h"

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kPart = 100 << 10;

class UnreadAnswersTest : public ::testing::Test {
 protected:
  // The answer of that number has begun.
  void Begin(uint64_t tenant, size_t bytes) {
    const int number = static_cast<int>(entries_.size());
    entries_.push_back(std::make_unique<UnreadAnswers::Entry>(
        answers_, tenant, bytes, [this, number] { cut_.push_back(number); }));
  }

  UnreadAnswers answers_{10 * kPart};
  std::vector<int> cut_;
  std::vector<std::unique_ptr<UnreadAnswers::Entry>> entries_;
};

TEST_F(UnreadAnswersTest, TheOldestOfTheLargestTenantIsCut) {
  Begin(1, 3 * kPart);
  Begin(2, 2 * kPart);
  Begin(2, 2 * kPart);
  Begin(3, 3 * kPart);
  EXPECT_THAT(cut_, IsEmpty());
  Begin(3, kPart);
  EXPECT_THAT(cut_, ElementsAre(1));
  EXPECT_TRUE(entries_[1]->was_cut());
  EXPECT_FALSE(entries_[0]->was_cut());
  // The new one counts, too: tenant 1 would have most.
  Begin(1, 3 * kPart);
  EXPECT_THAT(cut_, ElementsAre(1, 0));
}

TEST_F(UnreadAnswersTest, OneThatIsOverTheLimitGoesAlone) {
  Begin(1, kPart);
  Begin(2, 2 * kPart);
  Begin(3, 20 * kPart);
  EXPECT_THAT(cut_, ElementsAre(1, 0));
  Begin(1, kPart);
  EXPECT_THAT(cut_, ElementsAre(1, 0, 2));
}

TEST_F(UnreadAnswersTest, WhatHasEndedTakesNoRoom) {
  Begin(1, 9 * kPart);
  entries_[0] = nullptr;
  Begin(1, 10 * kPart);
  EXPECT_THAT(cut_, IsEmpty());
  Begin(1, kPart);
  EXPECT_THAT(cut_, ElementsAre(1));
  entries_[1] = nullptr;  // it has been cut before
  Begin(1, 9 * kPart);
  EXPECT_THAT(cut_, ElementsAre(1));
}

// What is cut may end at the same time.
TEST_F(UnreadAnswersTest, ThreadsBeginAndEndThem) {
  std::atomic<int> cut = 0;
  std::vector<std::thread> threads;
  for (int tenant = 0; tenant < 4; ++tenant) {
    threads.emplace_back([&, tenant] {
      for (int i = 0; i < 1000; ++i) {
        auto alive = std::make_unique<int>(i);
        const UnreadAnswers::Entry entry(answers_, tenant, 4 * kPart,
                                         [&] { cut += *alive >= 0 ? 1 : 0; });
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Begin(0, 10 * kPart);
  EXPECT_THAT(cut_, IsEmpty());
}

TEST_F(UnreadAnswersTest, ShortOnesDoNotCount) {
  for (int i = 0; i < 100; ++i) Begin(1, UnreadAnswers::kShort);
  Begin(1, 10 * kPart);
  EXPECT_THAT(cut_, IsEmpty());
}

}  // namespace
}  // namespace attend
