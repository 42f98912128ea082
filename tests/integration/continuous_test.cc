// Newcomers start and end while a long stream runs, and do not change it.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

constexpr int kLongTokens = 400;
constexpr int kNewcomers = 12;
// Steps of the long stream from a newcomer's sending to its first token: two of
// the server, and the way there and back, which beside other work take longer.
// A newcomer that waits for the stream's end sees most of its tokens.
constexpr int kFewTokens = 8;

// A stream whose tokens are counted as they arrive.
class LongStream {
 public:
  explicit LongStream(Client& client)
      : thread_([this, &client] {
          status_ = client.GenerateStream(
              Exactly({Sentence(4)}, kLongTokens),
              [this](const v1::GenerateChunk& chunk) {
                ids_.insert(ids_.end(), chunk.ids().begin(), chunk.ids().end());
                count_ += chunk.ids_size();
                return true;
              });
          ended_ = true;
        }) {}

  int count() const { return count_; }
  bool ended() const { return ended_; }
  // Waits for the end.
  absl::StatusOr<std::vector<int>> Join() {
    thread_.join();
    if (!status_.ok()) return status_;
    return ids_;
  }

 private:
  absl::Status status_;
  std::vector<int> ids_;
  std::atomic<int> count_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

// Tokens that `running` got between this request's sending and its first one.
int Overtaken(Client& client, const LongStream& running) {
  const int before = running.count();
  int at_first = -1;
  int tokens = 0;
  const absl::Status status = client.GenerateStream(
      Exactly({Sentence(5)}, 5), [&](const v1::GenerateChunk& chunk) {
        if (at_first < 0) at_first = running.count();
        tokens += chunk.ids_size();
        return true;
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(tokens, 5);
  return at_first - before;
}

TEST(ContinuousTest, NewcomersOvertakeALongStreamAndLeaveItAsItIs) {
  Client client(SharedServer().client_options());
  Client newcomer(SharedServer().client_options());
  const auto alone = LongStream(client).Join();
  ASSERT_TRUE(alone.ok()) << alone.status();
  ASSERT_EQ(alone->size(), kLongTokens);

  LongStream running(client);
  ASSERT_TRUE(Eventually([&] { return running.count() > 0; }));
  // The machine may be busy with other things for a moment; one newcomer that
  // had to wait for the stream's end would give hundreds each time.
  int fewest = kLongTokens;
  int ended_first = 0;
  for (int i = 0; i < kNewcomers; ++i) {
    fewest = std::min(fewest, Overtaken(newcomer, running));
    ended_first += running.ended() ? 0 : 1;
  }
  EXPECT_LE(fewest, kFewTokens);
  EXPECT_GT(ended_first, 0);
  const auto in_company = running.Join();
  ASSERT_TRUE(in_company.ok()) << in_company.status();
  EXPECT_EQ(*in_company, *alone);
}

}  // namespace
}  // namespace attend
