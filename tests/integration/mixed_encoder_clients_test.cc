// Many clients of encoders at once, some of which go away in the middle.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/encoder_server.h"
#include "tests/integration/raw_call.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

class MixedEncoderClients {
 public:
  explicit MixedEncoderClients(ServerProcess& server) : server_(server) {
    Client client(server.client_options());
    for (int i = 0; i < kClients; ++i) expected_.push_back(Answer(client, i));
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

  static constexpr int kClients = kSanitized ? 8 : 20;
  static constexpr int kRounds = 4;
  int equal() const { return equal_; }

 private:
  // Of one of the tasks, by number; "": an error.
  static std::string Answer(Client& client, int i) {
    switch (i % 5) {
      case 0:
        return Bits(
            client.Classify(Batch<v1::ClassifyRequest>("bert-4x-labels", i)));
      case 1:
        return Bits(
            client.Classify(Batch<v1::ClassifyRequest>("bert-tokens", i)));
      case 2: {
        v1::RerankRequest request;
        request.set_model("xlm-roberta-4x-reranker");
        request.set_query(Words(i));
        for (int k = 0; k < 8; ++k) request.add_documents(Words(i + k));
        return Bits(client.Rerank(request));
      }
      default:
        return Bits(client.Embed(Batch<v1::EmbedRequest>(
            i % 5 == 3 ? "bert-mean-pooling" : "t5-few-buckets", i)));
    }
  }

  template <class Response>
  static std::string Bits(const absl::StatusOr<Response>& response) {
    return response.ok() ? AllBits(*response) : "";
  }

  template <class Request>
  static Request Batch(const char* model, int i) {
    auto request = ForText<Request>(model, Words(i));
    for (int k = 1; k < 8; ++k) request.add_inputs()->set_text(Words(i + k));
    return request;
  }

  void RunClient(int i) {
    if (i % 4 == 3) return Leave(i);
    Client client(server_.client_options());
    const std::string answer = Answer(client, i);
    EXPECT_NE(answer, "");
    EXPECT_TRUE(answer == expected_[i]) << i;
    ++equal_;
  }

  // A call that is cancelled, at once or somewhere on its way.
  void Leave(int i) {
    const auto channel = RawChannel(server_.address());
    RawStream call(
        *channel, "/attend.v1.Attend/Embed",
        Batch<v1::EmbedRequest>("bert-mean-pooling", i).SerializeAsString());
    if (i % 8 == 7) std::this_thread::yield();
    call.Cancel();
    std::string answer;
    while (call.Read(answer)) {
    }
    const grpc::Status status = call.Finish();
    EXPECT_TRUE(status.ok() || status.error_code() == grpc::CANCELLED)
        << status.error_message();
  }

  ServerProcess& server_;
  std::vector<std::string> expected_;
  std::atomic<int> equal_{0};
};

TEST(MixedEncoderClientsTest, AnswersBesideCancelledCallsAreThoseAlone) {
  ServerProcess& server = EncoderServer();
  MixedEncoderClients clients(server);
  clients.Run();
  EXPECT_EQ(clients.equal(), MixedEncoderClients::kClients / 4 * 3 *
                                 MixedEncoderClients::kRounds);
  EXPECT_TRUE(Eventually([&] { return server.IsIdle(); }))
      << server.Get("/metrics").body;
}

}  // namespace
}  // namespace attend
