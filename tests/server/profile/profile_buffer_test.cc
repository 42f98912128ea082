#include "server/profile/profile_buffer.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr size_t kChunk = ProfileBuffer::kChunk;

// The times at which events began, by thread.
std::map<int, std::vector<int64_t>> Begins(const ProfileBuffer& buffer) {
  std::map<int, std::vector<int64_t>> begins;
  buffer.ForEach([&](int thread, const OpTime& event) {
    begins[thread].push_back(event.begin);
  });
  return begins;
}

TEST(ProfileBufferTest, KeepsWhatComesBetweenStartAndStop) {
  ProfileBuffer buffer;
  buffer.OnOp({.name = "before", .begin = 1});
  buffer.Start(kChunk);
  buffer.OnOp({.name = "op", .begin = 2, .rows = 3});
  buffer.OnOp({.name = "next", .begin = 4});
  buffer.Stop();
  buffer.OnOp({.name = "after", .begin = 5});
  std::vector<std::string> names;
  buffer.ForEach([&](int thread, const OpTime& event) {
    EXPECT_EQ(thread, gettid());
    names.emplace_back(event.name);
  });
  EXPECT_THAT(names, ElementsAre("op", "next"));
  EXPECT_EQ(buffer.dropped(), 0);
}

TEST(ProfileBufferTest, DropsWhatThereIsNoRoomForAndBeginsAnew) {
  ProfileBuffer buffer;
  for (int64_t round = 1; round <= 2; ++round) {
    buffer.Start(2 * kChunk);
    for (size_t i = 0; i < 2 * kChunk + 7; ++i) {
      buffer.OnOp({.name = "op", .begin = round});
    }
    buffer.Stop();
    const auto begins = Begins(buffer);
    ASSERT_THAT(begins, SizeIs(1));
    EXPECT_EQ(begins.begin()->second, std::vector<int64_t>(2 * kChunk, round));
    EXPECT_EQ(buffer.dropped(), 7);
    buffer.Clear();
  }
  buffer.Start(kChunk);
  buffer.Stop();
  EXPECT_THAT(Begins(buffer), IsEmpty());
  EXPECT_EQ(buffer.dropped(), 0);
}

// Threads come, write and go while it starts and stops; each event that is
// there is whole, and in the order of its thread.
TEST(ProfileBufferTest, ManyThreadsWriteWhileItStartsAndStops) {
  constexpr int kThreads = 2;
  ProfileBuffer buffer;
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int64_t i = 1; !end; ++i) {
        buffer.OnOp({.name = "op", .begin = i, .end = 2 * i});
      }
    });
  }
  int64_t events = 0;
  for (int round = 0; round < 5 || events == 0; ++round) {
    buffer.Start(4 * kChunk);
    std::this_thread::yield();
    buffer.Stop();
    std::map<int, int64_t> last;
    buffer.ForEach([&](int thread, const OpTime& event) {
      ++events;
      EXPECT_STREQ(event.name, "op");
      EXPECT_EQ(event.end, 2 * event.begin);
      EXPECT_GT(event.begin, last[thread]);
      last[thread] = event.begin;
    });
    buffer.Clear();
  }
  end = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace attend
