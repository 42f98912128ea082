// How the server goes: SIGTERM with nothing, something and too much to do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

constexpr int kTokens = kSanitized ? 60 : 300;

// Of a drain that a busy machine must not cut.
constexpr char kAsLongAsItTakes[] = "--drain-timeout=10m";

// Runs for long enough to see the server drain meanwhile.
v1::GenerateRequest LongRequest() {
  v1::GenerateRequest request = Exactly({}, kTokens);
  for (int i = 0; i < 8; ++i) request.add_inputs()->set_text(Sentence(i));
  request.mutable_params()->set_num_beams(2);
  return request;
}

// A stream that runs on a thread of its own.
class Running {
 public:
  Running(ServerProcess& server, const v1::GenerateRequest& request)
      : client_(server.client_options()),
        thread_([this, request] { response_ = Collect(client_, request); }) {}
  absl::StatusOr<v1::GenerateResponse> Join() {
    thread_.join();
    return response_;
  }

 private:
  Client client_;
  absl::StatusOr<v1::GenerateResponse> response_;
  std::thread thread_;
};

bool IsRunning(const ServerProcess& server, int count) {
  return server.Metric("attend_running_sequences{model=\"en-de\"}") == count;
}

TEST(DrainTest, AnIdleServerEndsAtOnce) {
  for (int signal : {SIGTERM, SIGINT, SIGQUIT}) {
    ServerProcess server;
    server.process().Signal(signal);
    EXPECT_EQ(server.process().Wait(), 0) << server.process().output();
  }
}

TEST(DrainTest, OtherSignalsDoNotEndItNorKeepItFromEnding) {
  ServerProcess server;
  for (int signal : {SIGUSR1, SIGUSR2, SIGPIPE, SIGHUP}) {
    server.process().Signal(signal);
  }
  ASSERT_TRUE(
      server.process().WaitForOutput("event=reload signal=SIGHUP "
                                     "read_again=nothing"));
  server.process().Signal(SIGUSR1);
  Client client(server.client_options());
  EXPECT_TRUE(client.Generate(Greedy({"Hello."})).ok());
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
  EXPECT_THAT(server.process().output(), ::testing::HasSubstr("event=stopped"));
}

TEST(DrainTest, FinishesWhatRunsAndTakesNothingNew) {
  ServerProcess server({kAsLongAsItTakes});
  Client client(server.client_options());
  ASSERT_TRUE(client.Generate(Greedy({"Hello."})).ok());  // it is connected
  Running running(server, LongRequest());
  ASSERT_TRUE(Eventually([&] { return IsRunning(server, 8); }));
  server.process().Signal(SIGTERM);
  ASSERT_TRUE(server.process().WaitForOutput("event=draining"));
  EXPECT_EQ(server.Get("/readyz").code, 503);
  EXPECT_EQ(server.Get("/livez").code, 200);
  absl::Status refused;
  EXPECT_TRUE(Eventually([&] {
    refused = client.Generate(Greedy({"Hello."})).status();
    return !refused.ok();
  }));
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable) << refused;
  EXPECT_THAT(refused.message(), ::testing::HasSubstr("draining"));

  const auto response = running.Join();
  ASSERT_TRUE(response.ok()) << response.status();
  for (const v1::GenerateResult& result : response->results()) {
    EXPECT_EQ(result.status().code(), 0);
    EXPECT_EQ(result.choices(0).ids_size(), kTokens);
  }
  EXPECT_EQ(server.process().Wait(), 0) << server.process().output();
}

TEST(DrainTest, ComputesInputsThatWait) {
  ServerProcess server({"--max-running=4", kAsLongAsItTakes});
  Running running(server, LongRequest());  // 4 of its inputs wait
  ASSERT_TRUE(Eventually([&] { return IsRunning(server, 4); }));
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
  const auto response = running.Join();
  ASSERT_TRUE(response.ok()) << response.status();
  ASSERT_EQ(response->results_size(), 8);
  for (const v1::GenerateResult& result : response->results()) {
    EXPECT_EQ(result.status().code(), 0);
    EXPECT_EQ(result.choices(0).ids_size(), kTokens);
  }
}

TEST(DrainTest, CutsWhatTakesTooLong) {
  ServerProcess server({"--drain-timeout=50ms"});
  Running running(server, LongRequest());
  ASSERT_TRUE(Eventually([&] { return IsRunning(server, 8); }));
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
  EXPECT_EQ(running.Join().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(server.process().output(),
              ::testing::HasSubstr("event=drain_timeout"));
}

TEST(DrainTest, ASecondSignalEndsItAtOnce) {
  ServerProcess server({kAsLongAsItTakes});
  Running running(server, LongRequest());
  ASSERT_TRUE(Eventually([&] { return IsRunning(server, 8); }));
  server.process().Signal(SIGTERM);
  ASSERT_TRUE(server.process().WaitForOutput("event=draining"));
  server.process().Signal(SIGTERM);
  EXPECT_EQ(server.process().Wait(), 1);
  EXPECT_EQ(running.Join().status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace attend
