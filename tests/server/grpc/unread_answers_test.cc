// Answers that clients do not read.

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/server/grpc/slow_call.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

// The fake's tokens are bytes. Each takes 7 bytes of the answer.
v1::TokenizeRequest Texts(int count) {
  v1::TokenizeRequest request;
  for (int i = 0; i < count; ++i) request.add_texts(std::string(60000, 'a'));
  return request;
}

TEST(UnreadAnswersTest, TheOldestMakesRoom) {
  RpcFixtureOptions options;
  options.max_unread_bytes = 3 << 20;
  RpcFixture fixture(options);
  SlowCall slow(fixture, "", "Tokenize");
  ASSERT_TRUE(slow.Send(Texts(5)));
  // It cannot be sent to its end while nobody reads. Of two others, which are
  // read, at least one comes when it has begun.
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    v1::TokenizeResponse read;
    grpc::Status status = fixture.stub->Tokenize(&context, Texts(6), &read);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(read.results_size(), 6);
  }
  EXPECT_FALSE(slow.Receive<v1::TokenizeResponse>().has_value());
  EXPECT_EQ(slow.Finish().error_code(), grpc::CANCELLED);
  EXPECT_TRUE(WaitUntil([&] {
    return absl::StrContains(fixture.metrics.Serialize(),
                             "attend_slow_readers_total{model=\"fake\"} 1");
  }));
}

}  // namespace
}  // namespace attend
