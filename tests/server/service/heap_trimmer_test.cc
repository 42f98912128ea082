#include "server/service/heap_trimmer.h"

#include <gtest/gtest.h>

#include "absl/synchronization/mutex.h"

namespace attend {
namespace {

constexpr int64_t kWorthwhile = HeapTrimmer::kWorthwhileBytes;

// Counts trims.
class Trims {
 public:
  void Add() {
    absl::MutexLock lock(&mutex_);
    ++count_;
  }
  void Await(int count) {
    const auto reached = [this, count]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return count_ >= count;
    };
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&reached));
  }
  int count() {
    absl::MutexLock lock(&mutex_);
    return count_;
  }

 private:
  absl::Mutex mutex_;
  int count_ = 0;
};

TEST(HeapTrimmerTest, TrimsAfterALargeRequestAndAfterManySmallOnes) {
  Trims trims;
  HeapTrimmer trimmer(absl::ZeroDuration(), [&] { trims.Add(); });
  trimmer.Freed(kWorthwhile);
  trims.Await(1);
  trimmer.Freed(kWorthwhile / 2);
  trimmer.Freed(kWorthwhile / 2);
  trims.Await(2);
}

TEST(HeapTrimmerTest, SmallRequestsAreNotWorthATrim) {
  Trims trims;
  {
    HeapTrimmer trimmer(absl::ZeroDuration(), [&] { trims.Add(); });
    trimmer.Freed(kWorthwhile - 1);
  }
  EXPECT_EQ(trims.count(), 0);
}

// Hangs if the end waits for the pause.
TEST(HeapTrimmerTest, TheEndDoesNotWaitForThePause) {
  Trims trims;
  {
    HeapTrimmer trimmer(absl::InfiniteDuration(), [&] { trims.Add(); });
    trimmer.Freed(kWorthwhile);
  }
  EXPECT_EQ(trims.count(), 0);
}

}  // namespace
}  // namespace attend
