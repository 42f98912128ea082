// Many clients of all kinds at once, well-behaved and not.

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr int kClients = kSanitized ? 24 : 64;
constexpr int kRounds = kSanitized ? 1 : 2;

// What a client does, by number.
enum class Kind {
  kUnary,
  kStream,
  kScore,
  kUnaryAgain,
  kStreamAgain,
  kCancel,
  kDeadline,
  kKilled
};
constexpr int kKinds = 8;

v1::ScoreRequest ScoreOf(int number) {
  v1::ScoreRequest request;
  v1::ScorePair& pair = *request.add_pairs();
  pair.mutable_source()->set_text(Sentence(number));
  pair.mutable_target()->set_text("Ein Mann fährt die Straße entlang.");
  return request;
}

// Answers on an idle server, by client.
struct Expected {
  std::string generate;
  std::string score;
};

std::vector<Expected> Alone(Client& client) {
  std::vector<Expected> expected(kClients);
  for (int i = 0; i < kClients; ++i) {
    const auto generated = client.Generate(Mixed(i));
    const auto scored = client.Score(ScoreOf(i));
    EXPECT_TRUE(generated.ok() && scored.ok());
    expected[i] = {Bits(*generated), Bits(*scored)};
  }
  return expected;
}

class MixedClients {
 public:
  explicit MixedClients(ServerProcess& server) : server_(server) {
    Client client(server.client_options());
    expected_ = Alone(client);
  }

  void Run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kClients; ++i) {
      threads.emplace_back([this, i] {
        for (int round = 0; round < kRounds; ++round) RunClient(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  int equal() const { return equal_; }

 private:
  void RunClient(int i) {
    ClientOptions options = server_.client_options();
    const Kind kind = static_cast<Kind>(i % kKinds);
    if (kind == Kind::kDeadline) options.timeout = absl::Milliseconds(1 + i);
    Client client(options);
    switch (kind) {
      case Kind::kStream:
      case Kind::kStreamAgain:
        return Expect(Collect(client, Mixed(i)), expected_[i].generate);
      case Kind::kScore:
        return Expect(client.Score(ScoreOf(i)), expected_[i].score);
      case Kind::kCancel:
        return Cancel(client, i);
      case Kind::kDeadline:
        return ExpectOrLate(client.Generate(Mixed(i)), expected_[i].generate);
      case Kind::kKilled:
        return Kill();
      default:
        return Expect(client.Generate(Mixed(i)), expected_[i].generate);
    }
  }

  template <typename Response>
  void Expect(const absl::StatusOr<Response>& response,
              const std::string& expected) {
    ASSERT_TRUE(response.ok()) << response.status();
    EXPECT_TRUE(Bits(*response) == expected) << response->DebugString();
    ++equal_;
  }

  void ExpectOrLate(const absl::StatusOr<v1::GenerateResponse>& response,
                    const std::string& expected) {
    if (response.ok()) return Expect(response, expected);
    EXPECT_EQ(response.status().code(), absl::StatusCode::kDeadlineExceeded)
        << response.status();
  }

  void Cancel(Client& client, int i) {
    const absl::Status status =
        client.GenerateStream(Exactly({Sentence(i), Sentence(i + 1)}, 300),
                              [](const v1::GenerateChunk&) { return false; });
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  }

  // A client that dies in the middle of its stream.
  void Kill() {
    Process client({ATTEND_CLI, "translate", "--stream", "--address",
                    server_.address(), "--beams", "1", "--min-new-tokens",
                    "400", "--max-new-tokens", "400", "Hello, you there."},
                   STDOUT_FILENO);
    EXPECT_TRUE(client.WaitForOutput(" "));
    client.Signal(SIGKILL);
    EXPECT_EQ(client.Wait(), -SIGKILL);
  }

  ServerProcess& server_;
  std::vector<Expected> expected_;
  std::atomic<int> equal_{0};
};

TEST(MixedClientsTest, AnswersAreThoseAloneAndNothingIsLeftBehind) {
  ServerProcess& server = SharedServer();
  MixedClients clients(server);
  clients.Run();
  EXPECT_GE(clients.equal(), kClients / kKinds * 5 * kRounds);
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }))
      << server.Get("/metrics").body;
  EXPECT_EQ(server.Get("/readyz").code, 200);
}

}  // namespace
}  // namespace attend
