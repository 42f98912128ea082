#include "server/grpc/read_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/grpc/raw_connection.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

// As many as the port has threads, and one more. They send what costs nothing
// and is never refused; without turns nobody else is served meanwhile.
TEST(ReadTurnsTest, WhoSendsEverMoreHoldsUpNobody) {
#ifdef ATTEND_THREAD_SANITIZER
  GTEST_SKIP() << "read_turns.cc leaves the functions to it";
#endif
  RpcFixture fixture;
  std::atomic<bool> stop = false;
  std::atomic<int> sending = 0;
  std::string frames;
  while (frames.size() < 1 << 16) {
    frames += RawConnection::Frame(RawConnection::kPriority, 0, 1,
                                   std::string(5, '\1'));
  }
  std::vector<std::thread> senders;
  for (int i = 0; i < 3; ++i) {
    senders.emplace_back([&] {
      RawConnection connection(fixture.server->port());
      for (int sent = 0; !stop && connection.Send(frames); ++sent) {
        if (sent == 100) ++sending;
      }
    });
  }
  EXPECT_TRUE(WaitUntil([&] { return sending == 3; }));
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(10));
    v1::ListModelsResponse response;
    const grpc::Status status =
        fixture.stub->ListModels(&context, v1::ListModelsRequest(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    if (!status.ok()) break;
  }
  stop = true;
  for (std::thread& sender : senders) sender.join();
}

// Of many turns, on connections that have others beside them.
TEST(ReadTurnsTest, LongMessagesArrive) {
  RpcFixture fixture;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      grpc::ChannelArguments own;
      own.SetInt("test.connection", i);
      const auto stub = v1::Attend::NewStub(grpc::CreateCustomChannel(
          absl::StrCat("127.0.0.1:", fixture.server->port()),
          grpc::InsecureChannelCredentials(), own));
      for (int call = 1; call <= 25; ++call) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() +
                             std::chrono::minutes(1));
        v1::TokenizeRequest request;
        request.set_model(std::string(call * kTurnBytes / 5, 'a'));
        v1::TokenizeResponse response;
        EXPECT_EQ(stub->Tokenize(&context, request, &response).error_code(),
                  grpc::NOT_FOUND);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace attend
