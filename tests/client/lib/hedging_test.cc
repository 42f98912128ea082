#include "client/cpp/lib/hedging.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "client/cpp/lib/client.h"
#include "tests/client/fake/fake_service.h"

namespace attend {
namespace {

TEST(HedgeBudgetTest, TenAtOnceThenOneForTwoInTime) {
  HedgeBudget budget;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
  budget.AnsweredInTime();
  EXPECT_FALSE(budget.Take());
  budget.AnsweredInTime();
  EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
  for (int i = 0; i < 100; ++i) budget.AnsweredInTime();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(budget.Take());
  EXPECT_FALSE(budget.Take());
}

class HedgingTest : public ::testing::Test {
 protected:
  ClientOptions Options() {
    return {.address = service_.address(),
            .hedge_after = absl::Milliseconds(20)};
  }
  static v1::GenerateRequest Request() {
    v1::GenerateRequest request;
    request.add_inputs()->set_text("a");
    return request;
  }

  FakeService service_;
};

TEST_F(HedgingTest, TheAnswerOfTheSecondCallCounts) {
  service_.Fail({{.hangs = true}});
  const auto response = Client(Options()).Generate(Request());
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->results(0).choices(0).text(), "A");
  EXPECT_EQ(service_.calls(), 2);
}

TEST_F(HedgingTest, AnErrorWaitsForTheOtherCall) {
  ClientOptions options = Options();
  options.timeout = absl::Milliseconds(300);
  service_.Fail({{.hangs = true}, {.status = absl::InternalError("broken")}});
  EXPECT_EQ(Client(options).Generate(Request()).status().code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST_F(HedgingTest, NoMoreThanTheBudget) {
  ClientOptions options = Options();
  options.timeout = absl::Milliseconds(60);
  service_.Fail(std::vector<FakeFailure>(30, {.hangs = true}));
  Client client(options);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(client.Generate(Request()).status().code(),
              absl::StatusCode::kDeadlineExceeded);
  }
  EXPECT_LE(service_.calls(), 12 + 10);
}

TEST_F(HedgingTest, CancellingEndsBothCalls) {
  service_.Fail({{.hangs = true}, {.hangs = true}});
  Cancellation cancellation;
  std::thread other([&] {
    while (service_.calls() < 2) std::this_thread::yield();
    cancellation.Cancel();
  });
  EXPECT_EQ(Client(Options())
                .Generate(Request(), {.cancellation = &cancellation})
                .status()
                .code(),
            absl::StatusCode::kCancelled);
  other.join();
}

TEST_F(HedgingTest, StreamsAreMadeOnce) {
  ClientOptions options = Options();
  options.timeout = absl::Milliseconds(60);
  service_.Fail({{.hangs = true}, {.hangs = true}});
  const auto any = [](const v1::GenerateChunk&) { return true; };
  EXPECT_EQ(Client(options).GenerateStream(Request(), any).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_LE(service_.calls(), 1);
}

}  // namespace
}  // namespace attend
