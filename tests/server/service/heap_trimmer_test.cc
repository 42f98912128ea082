#include "server/service/heap_trimmer.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "engine/tensor/mutex.h"

namespace attend {
namespace {

constexpr int64_t kWorthwhile = HeapTrimmer::kWorthwhileBytes;

// Counts trims.
class Trims {
 public:
  void Add() {
    MutexLock lock(mutex_);
    ++count_;
    changed_.notify_one();
  }
  void Await(int count) {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return count_ >= count;
    });
  }
  int count() {
    MutexLock lock(mutex_);
    return count_;
  }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
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
    HeapTrimmer trimmer(absl::Hours(1), [&] { trims.Add(); });
    trimmer.Freed(kWorthwhile);
  }
  EXPECT_EQ(trims.count(), 0);
}

}  // namespace
}  // namespace attend
