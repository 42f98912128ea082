// What a call of Tokenize holds while it waits.

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "server/service/handler.h"
#include "server/service/methods.h"
#include "tests/server/service/service_fixture.h"
#include "tests/support/bytes_in_use.h"

namespace attend {
namespace {

constexpr int kTexts = 64;
constexpr int kTextTokens = 4096;
constexpr size_t kTokens = kTexts * kTextTokens;

// Counts the bytes of the answers, and keeps none.
class CountingResponder final : public Responder {
 public:
  void Send(const google::protobuf::Message& answer) override {
    bytes_ += answer.ByteSizeLong();
  }
  void Finish(const absl::Status& status) override { end_ = status; }

  size_t bytes() const { return bytes_; }
  const absl::Status& end() const { return end_; }

 private:
  size_t bytes_ = 0;
  absl::Status end_ = absl::UnknownError("no end");
};

using TokenizeAllocationTest = ServiceFixture;

TEST_F(TokenizeAllocationTest, ACallThatWaitsHoldsIdsOrTheBytesToSend) {
  Build({});
  // The fake's tokens are bytes, and one for the end.
  v1::TokenizeRequest request;
  for (int i = 0; i < kTexts; ++i) {
    request.add_texts(std::string(kTextTokens - 1, 'a'));
  }
  LocalCall call = NewCall("Tokenize", request);
  const std::unique_ptr<Handler> handler = NewTokenizeHandler(service_, call);
  const size_t before = BytesInUse();
  ASSERT_EQ(*handler->Start(request), kTexts);
  for (int i = 0; i < kTexts - 1; ++i) {
    ASSERT_EQ(handler->StartInput(request, i), absl::OkStatus());
  }
  const size_t between_inputs = BytesInUse() - before;
  EXPECT_GE(between_inputs, kTokens * sizeof(int) / 2);
  EXPECT_LE(between_inputs, kTokens * sizeof(int) * 2);

  ASSERT_EQ(handler->StartInput(request, kTexts - 1), absl::OkStatus());
  CountingResponder client;
  handler->Continue(client);
  EXPECT_EQ(client.end(), absl::OkStatus());
  EXPECT_GT(client.bytes(), kTokens);
  EXPECT_LT(BytesInUse(), before + kTokens / 8);
}

}  // namespace
}  // namespace attend
