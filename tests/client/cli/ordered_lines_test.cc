#include "client/cpp/cli/ordered_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace attend {
namespace {

using ::testing::ElementsAreArray;

// Batches of one.
std::function<LineResults(const std::vector<Line>&)> EachLine(
    std::function<absl::StatusOr<std::string>(const Line&)> work) {
  return [work](const std::vector<Line>& lines) {
    EXPECT_EQ(lines.size(), 1);
    return LineResults{work(lines.front())};
  };
}

std::function<std::optional<std::string>()> Count(int to) {
  return [to, i = std::make_shared<int>(0)]() -> std::optional<std::string> {
    if (*i == to) return std::nullopt;
    return std::to_string(++*i);
  };
}

TEST(InOrderTest, EmptyInput) {
  RunInOrder(4, {.next = Count(0),
                 .work = EachLine([](const Line&) { return std::string(); }),
                 .emit = [](const Line&, const absl::StatusOr<std::string>&) {
                   FAIL();
                 }});
}

TEST(InOrderTest, ResultsKeepTheOrderOfLines) {
  for (int in_flight : {1, 2, 7}) {
    std::vector<std::string> results, expected;
    for (int i = 1; i <= 500; ++i) {
      expected.push_back(i % 5 == 0 ? "ABORTED" : std::to_string(i) + "!");
    }
    RunInOrder(
        in_flight,
        {.next = Count(500),
         .work = EachLine([](const Line& line) -> absl::StatusOr<std::string> {
           EXPECT_EQ(line.text, std::to_string(line.number));
           if (line.number % 5 == 0) return absl::AbortedError("five");
           return line.text + "!";
         }),
         .emit = [&](const Line& line,
                     const absl::StatusOr<std::string>& result) {
           EXPECT_EQ(line.number, static_cast<int>(results.size()) + 1);
           results.push_back(
               result.ok() ? *result
                           : absl::StatusCodeToString(result.status().code()));
         }});
    EXPECT_THAT(results, ElementsAreArray(expected));
  }
}

// Line 1 ends only when others wait behind it: what is held stays bounded, and
// all workers but one go on meanwhile.
TEST(InOrderTest, SlowHeadHoldsABoundedWindow) {
  constexpr int kInFlight = 3;
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0, emitted = 0, most_held = 0;
  RunInOrder(
      kInFlight,
      {.next = Count(100),
       .work = EachLine([&](const Line& line) -> absl::StatusOr<std::string> {
         std::unique_lock<std::mutex> lock(mutex);
         if (line.number == 1) {
           changed.wait(lock, [&] { return done == 4 * kInFlight - 1; });
         }
         most_held = std::max(most_held, ++done - emitted);
         changed.notify_all();
         return line.text;
       }),
       .emit = [&](const Line&, const absl::StatusOr<std::string>&) {
         const std::lock_guard<std::mutex> lock(mutex);
         ++emitted;
       }});
  EXPECT_EQ(emitted, 100);
  EXPECT_EQ(most_held, 4 * kInFlight);
}

TEST(InOrderTest, Batches) {
  std::string results;
  std::atomic<int> calls = 0;
  RunInOrder(
      3,
      {.next = Count(10),
       .work =
           [&](const std::vector<Line>& lines) {
             ++calls;
             LineResults batch;
             for (const Line& line : lines) {
               EXPECT_EQ((line.number - 1) / 4, (lines.front().number - 1) / 4);
               batch.push_back(line.text + ",");
             }
             return batch;
           },
       .emit = [&](const Line&,
                   const absl::StatusOr<std::string>& one) { results += *one; },
       .batch = 4});
  EXPECT_EQ(results, "1,2,3,4,5,6,7,8,9,10,");
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace attend
