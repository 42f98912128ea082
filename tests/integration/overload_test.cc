// More than a server takes: refusals, deadlines, cancelled calls, preemption.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "attend/v1/status_details.pb.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kGenerate[] = "/attend.v1.Attend/Generate";
constexpr char kGenerateStream[] = "/attend.v1.Attend/GenerateStream";

// As long as a request may be, several times over, so that it still runs when
// the test has looked at what it wants to see.
v1::GenerateRequest Endless() {
  v1::GenerateRequest request =
      Exactly({Sentence(0), Sentence(2), Sentence(3), Sentence(4)}, 500);
  request.mutable_params()->set_num_beams(4);
  return request;
}

double Running(const ServerProcess& server) {
  return server.Metric("attend_running_sequences{model=\"en-de\"}");
}
double Queued(const ServerProcess& server) {
  return server.Metric("attend_queued_requests{model=\"en-de\"}");
}

TEST(OverloadTest, AFullQueueSaysWhenToTryAgain) {
  ServerProcess server({"--max-running=1", "--max-queued-requests=3"});
  const auto channel = RawChannel(server.address());
  v1::GenerateRequest one = Endless();
  one.mutable_inputs()->DeleteSubrange(1, 3);
  RawStream busy(*channel, kGenerateStream, one.SerializeAsString());
  ASSERT_TRUE(Eventually([&] { return Running(server) == 1; }));
  v1::GenerateRequest three = Endless();
  three.mutable_inputs()->RemoveLast();
  RawStream waiting(*channel, kGenerateStream, three.SerializeAsString());
  ASSERT_TRUE(Eventually([&] { return Queued(server) == 3; }));

  const RawReply reply =
      CallUnary(*channel, kGenerate, Greedy({"Hello."}).SerializeAsString());
  EXPECT_EQ(reply.status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("max_queued_requests"));
  ASSERT_EQ(reply.trailers.count("grpc-retry-pushback-ms"), 1);
  EXPECT_GT(std::stoi(reply.trailers.find("grpc-retry-pushback-ms")->second),
            0);
  v1::StatusDetails details;
  v1::RetryInfo info;
  ASSERT_TRUE(details.ParseFromString(reply.status.error_details()));
  ASSERT_EQ(details.details_size(), 1);
  EXPECT_EQ(details.details(0).type_url(),
            "type.googleapis.com/google.rpc.RetryInfo");
  ASSERT_TRUE(info.ParseFromString(details.details(0).value()));
  EXPECT_GT(info.retry_delay().seconds() + info.retry_delay().nanos(), 0);
  EXPECT_EQ(server.Metric(
                "attend_rejected_total{model=\"en-de\",reason=\"queue_full\"}"),
            1);

  // Gone is what was cancelled, waiting or running; there is room again.
  waiting.Cancel();
  busy.Cancel();
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }))
      << server.Get("/metrics").body;
  Client client(server.client_options());
  EXPECT_TRUE(client.Generate(Greedy({"Hello."})).ok());
}

TEST(OverloadTest, DeadlinesEndWhatWaitsAndWhatRuns) {
  ServerProcess server({"--max-running=1"});
  const auto channel = RawChannel(server.address());
  RawStream busy(*channel, kGenerateStream, Endless().SerializeAsString());
  ASSERT_TRUE(Eventually([&] { return Queued(server) == 3; }));
  ClientOptions options = server.client_options();
  options.timeout = absl::Milliseconds(100);
  Client hurried(options);
  const absl::Status waiting = hurried.Generate(Greedy({"Hello."})).status();
  EXPECT_TRUE(absl::IsDeadlineExceeded(waiting)) << waiting;
  EXPECT_TRUE(Eventually([&] { return Queued(server) <= 3; }));
  busy.Cancel();
  ASSERT_TRUE(Eventually([&] { return server.IsIdle(); }));

  // On an idle server the same runs when its time is up. On a busy machine the
  // time may be up before the server has heard of the call: then once more.
  EXPECT_TRUE(Eventually([&] {
    const absl::Status running = Collect(hurried, Endless()).status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(running)) << running;
    return server.process().output().find(
               "method=GenerateStream code=DEADLINE_EXCEEDED") !=
           std::string::npos;
  })) << server.process().output();
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }))
      << server.Get("/metrics").body;
}

TEST(OverloadTest, CancelledCallsGiveTheirMemoryBack) {
  ServerProcess& server = SharedServer();
  ASSERT_TRUE(Eventually([&] { return server.IsIdle(); }));
  Client client(server.client_options());
  int chunks = 0;
  const absl::Status status =
      client.GenerateStream(Endless(), [&](const v1::GenerateChunk&) {
        if (++chunks < 3) return true;
        EXPECT_GT(Running(server), 0);
        return false;
      });
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }))
      << server.Get("/metrics").body;
}

// A client that opens a stream and does not read holds back nobody.
TEST(OverloadTest, ASlowReaderIsCutOffAndSlowsNobody) {
  ServerProcess server({"--slow-reader-timeout=200ms"});
  v1::GenerateRequest request = Exactly({Sentence(0)}, 300);
  request.mutable_params()->set_log_probs(true);
  request.mutable_params()->set_top_log_probs(20);
  const auto channel = NarrowChannel(server.address());
  RawStream slow(*channel, kGenerateStream, request.SerializeAsString());
  Client client(server.client_options());
  EXPECT_TRUE(client.Generate(Greedy({"Hello."})).ok());
  EXPECT_TRUE(Eventually([&] {
    return server.Metric("attend_slow_readers_total{model=\"en-de\"}") == 1;
  }));
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }));
  EXPECT_TRUE(client.Generate(Greedy({"Hello."})).ok());
}

TEST(OverloadTest, PreemptedRequestsAnswerAsWithALargePool) {
  constexpr int kRequests = kSanitized ? 10 : 32;
  const auto request = [](int i) {
    v1::GenerateRequest mixed = Mixed(i);
    mixed.mutable_params()->set_min_new_tokens(60);
    mixed.mutable_params()->set_max_new_tokens(60);
    return mixed;
  };
  Client roomy(SharedServer().client_options());
  std::vector<std::string> expected;
  for (int i = 0; i < kRequests; ++i) {
    const auto response = roomy.Generate(request(i));
    ASSERT_TRUE(response.ok()) << response.status();
    expected.push_back(Bits(*response));
  }
  ServerProcess server({"--kv-cache-bytes=4MiB"});
  Client client(server.client_options());
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int i = 0; i < kRequests; ++i) {
    threads.emplace_back([&, i] {
      const auto response = client.Generate(request(i));
      ASSERT_TRUE(response.ok()) << response.status();
      equal += Bits(*response) == expected[i] ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, kRequests);
  EXPECT_GT(server.Metric("attend_preemptions_total{model=\"en-de\"}"), 0);
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }));
}

}  // namespace
}  // namespace attend
