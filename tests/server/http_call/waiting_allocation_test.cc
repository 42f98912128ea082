// What calls hold while their inputs wait for the engine.

#include <gmock/gmock.h>
#include <malloc.h>

#include <deque>
#include <string>

#include "tests/server/http_call/http_fixture.h"
#include "tests/server/http_call/say_api.h"
#include "tests/support/bytes_in_use.h"

namespace attend {
namespace {

TEST(WaitingCallsTest, DoNotHoldTheirTexts) {
  constexpr int kCalls = 8;
  constexpr size_t kTextBytes = 4 << 20;
  HttpFixtureOptions options;
  options.engines = {{.allowed_steps = 0}};
  options.apis = {SayApi()};
  HttpFixture fixture(std::move(options));
  std::string request = HttpFixture::PostText(
      "/say", absl::StrCat(R"({"words": 1, "text": ")",
                           std::string(kTextBytes, 'a'), "\"}"));
  std::deque<RawHttp> clients;
  // Thus all texts are counted, whichever thread allocates them.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const size_t before = BytesInUse();
  for (int i = 0; i < kCalls; ++i) {
    ASSERT_TRUE(clients.emplace_back().Connect(fixture.port()));
    ASSERT_TRUE(clients.back().Send(request));
  }
  ASSERT_TRUE(
      WaitUntil([&] { return fixture.engine().live_sequences() == kCalls; }));
  // What is left are tokens.
  EXPECT_TRUE(WaitUntil([&] {
    return BytesInUse() < before + kCalls * kTextBytes / 2;
  })) << BytesInUse() - before;
}

}  // namespace
}  // namespace attend
