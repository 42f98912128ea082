#include "server/http_call/http_call.h"

#include <gmock/gmock.h>

#include <deque>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/tenants/tenants.h"
#include "tests/server/http_call/http_fixture.h"
#include "tests/server/http_call/say_api.h"
#include "tests/support/descriptor_limit.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

HttpFixtureOptions WithSay(FakeEngineOptions engine = {}) {
  HttpFixtureOptions options;
  options.engines = {std::move(engine)};
  options.apis = {SayApi()};
  return options;
}

TEST(HttpCallTest, AnswersAsAWhole) {
  HttpFixture fixture(WithSay());
  const std::string whole = fixture.Post(
      "/say", R"({"text": "abc", "words": 3})", "X-Request-Id: mine\r\n");
  EXPECT_THAT(whole, AllOf(StartsWith("HTTP/1.1 200 "),
                           HasSubstr("Content-Type: text/plain\r\n"),
                           HasSubstr("X-Request-Id: mine\r\n")));
  EXPECT_EQ(BodyOf(whole), "{|}");
}

TEST(HttpCallTest, PartsAreSentAsTheyCome) {
  HttpFixture fixture(WithSay({.allowed_steps = 3}));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  ASSERT_TRUE(client.Send(HttpFixture::PostText(
      "/say/fake", R"({"text": "abc", "words": 5, "stream": true})")));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"),
              HasSubstr("Transfer-Encoding: chunked\r\n"));
  std::string streamed = client.ReadChunk();
  fixture.OpenGates();
  for (std::string part; !(part = client.ReadChunk()).empty();) {
    streamed += part;
  }
  std::erase(streamed, '\n');
  EXPECT_EQ(streamed,
            "{|}~\x7f"
            "end");
  fixture.ExpectCounted(R"(code="OK",method="/say/*",model="fake")");
}

// The head comes before the first token, and fillers until it is there.
TEST(HttpCallTest, AStreamBeginsOnceItIsAdmitted) {
  HttpFixtureOptions options = WithSay({.allowed_steps = 0});
  options.http.stream_keepalive = absl::Milliseconds(50);
  HttpFixture fixture(std::move(options));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  ASSERT_TRUE(client.Send(HttpFixture::PostText(
      "/say", R"({"text": "abc", "words": 2, "stream": true})")));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("X-Accel-Buffering: no\r\n")));
  EXPECT_EQ(client.ReadChunk(), "...\n");
  EXPECT_EQ(client.ReadChunk(), "...\n");
  fixture.OpenGates();
  std::string rest;
  for (std::string part; !(part = client.ReadChunk()).empty();) rest += part;
  EXPECT_THAT(rest, EndsWith("end\n"));
}

TEST(HttpCallTest, AnErrorBeforeTheFirstTokenIsAnEventOfTheStream) {
  HttpFixture fixture(WithSay({.allowed_steps = 0}));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  ASSERT_TRUE(client.Send(HttpFixture::PostText(
      "/say", R"({"text": "abc", "words": 100, "stream": true})",
      "X-Request-Timeout: 0.05\r\n")));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  const absl::Time late = fixture.clock.Now() + absl::Milliseconds(50);
  ASSERT_TRUE(WaitUntil([&] { return fixture.clock.Now() > late; }));
  fixture.OpenGates();
  EXPECT_THAT(client.ReadToEnd(),
              AllOf(HasSubstr("data: 504 () "), EndsWith("\r\n0\r\n\r\n")));
  fixture.ExpectCounted(
      R"(code="DEADLINE_EXCEEDED",method="/say",model="fake")");
}

// What is wrong at once has its status, although the call would stream.
TEST(HttpCallTest, AStreamThatIsNotAdmittedDoesNotBegin) {
  HttpFixture fixture(WithSay({.allowed_steps = 0}));
  EXPECT_THAT(fixture.Post("/say", R"({"text": "a", "words": -1,
                                       "stream": true})"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(fixture.Post("/say/b", R"({"text": "a", "stream": true})"),
              StartsWith("HTTP/1.1 404 "));
}

TEST(HttpCallTest, ErrorsAreInTheFormOfTheApi) {
  HttpFixture fixture(WithSay());
  const struct {
    const char *path, *body, *expected;
  } cases[] = {
      {"/say", R"({"text": "abc", "words": -1})",
       "400 (words) words is -1, must be in [1, 4095]"},
      {"/say", R"({"text": "abc", "words": "x"})",
       "400 (words) words is \"x\", must be an integer in [-2147483648, "
       "2147483647]"},
      {"/say", R"({"text": "abc", "color": 1})",
       "400 (color) color is not a field that this server knows here"},
      {"/say", R"({"text": "\u0001"})", "400 (text) text[0].text: text has"},
      {"/say", "{", "400 () the body: not valid json: "},
      {"/say", "[]", "400 () the body: is [], expected a json object"},
      {"/say", "", "400 () the body: not valid json: "},
      {"/say/b", R"({"text": "abc"})",
       "404 () model 'b' is not served, the models are: 'fake'"},
      {"/say/", "", "404 () not found; there are "},
      {"/sa", "", "404 () not found; there are "},
  };
  for (const auto& c : cases) {
    const std::string answer = fixture.Post(c.path, c.body);
    EXPECT_THAT(BodyOf(answer), StartsWith(c.expected)) << c.body;
    EXPECT_THAT(answer, HasSubstr("Content-Type: text/x-error\r\n"));
  }
  EXPECT_THAT(fixture.Post("/say", "{}", "Content-Type: text/html\r\n"),
              EndsWith("400 (Content-Type) Content-Type must be "
                       "application/json"));
  for (const char* coding : {"gzip", "GZIP, identity", ""}) {
    EXPECT_THAT(
        fixture.Post("/say", "{}",
                     absl::StrCat("Content-Encoding: ", coding, "\r\n")),
        EndsWith("400 (Content-Encoding) Content-Encoding must be absent: "
                 "bodies are not compressed here"))
        << coding;
  }
  EXPECT_THAT(fixture.Post("/say", R"({"text": "abc", "words": 1})",
                           "Content-Encoding: identity\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(HttpGet(fixture.port(), "/say"),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("text/x-error")));
  EXPECT_THAT(HttpGet(fixture.port(), "/other"),
              Not(HasSubstr("text/x-error")));
}

// Who may not call takes no memory for a body.
TEST(HttpCallTest, TheKeyIsCheckedBeforeTheBodyIsRead) {
  Metrics metrics("test", {});
  Tenants tenants(metrics);
  TenantSettings tenant;
  tenant.name = "a";
  tenant.keys = {HashKey("key")};
  tenants.Set({tenant}, absl::UnixEpoch());
  HttpFixtureOptions options = WithSay();
  options.tenants = &tenants;
  HttpFixture fixture(std::move(options));
  for (const char* wrong : {"", "Authorization: Bearer other\r\n",
                            "Authorization: Bearer key\r\n"
                            "Authorization: Bearer key\r\n"}) {
    RawHttp client;
    ASSERT_TRUE(client.Connect(fixture.port()));
    ASSERT_TRUE(client.Send(HttpRequestText(
        "POST", "/say", absl::StrCat("Content-Length: 1000000\r\n", wrong))));
    const std::string answer = client.ReadToEnd();
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 401 "),
                              HasSubstr("WWW-Authenticate: Bearer\r\n"),
                              HasSubstr("\r\n\r\n401 () ")));
  }
  EXPECT_THAT(fixture.Post("/say", R"({"text": "abc", "words": 1})",
                           "authorization: Bearer key\r\n"),
              StartsWith("HTTP/1.1 200 "));
  fixture.ExpectCounted(R"(code="UNAUTHENTICATED",method="/say",model="")");
}

TEST(HttpCallTest, AClientThatGoesEndsItsWorkWithinAStep) {
  for (const char* streams : {"false", "true"}) {
    HttpFixture fixture(WithSay({.allowed_steps = 3}));
    {
      RawHttp client;
      ASSERT_TRUE(client.Connect(fixture.port()));
      ASSERT_TRUE(client.Send(HttpFixture::PostText(
          "/say", absl::StrCat(R"({"text": "abc", "words": 4000, "stream": )",
                               streams, "}"))));
      fixture.engine().WaitUntilBlocked();
    }
    ASSERT_TRUE(WaitUntil([&] {
      fixture.engine().AllowSteps(1);
      return fixture.engine().live_sequences() == 0;
    }));
    EXPECT_LT(fixture.engine().steps(), 4000);
    fixture.ExpectCounted(R"(code="CANCELLED",method="/say",model="fake")");
  }
}

TEST(HttpCallTest, AnErrorEndsTheOtherInputs) {
  HttpFixture fixture(WithSay({.allowed_steps = 0}));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  ASSERT_TRUE(client.Send(HttpFixture::PostText(
      "/say",
      R"({"text": ["\u0001", "abc"], "words": 4000, "stream": true})")));
  EXPECT_THAT(client.ReadToEnd(),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("text[0]")));
  fixture.OpenGates();
  ASSERT_TRUE(fixture.WaitUntilFree());
  EXPECT_LT(fixture.engine().steps(), 1000);
}

TEST(HttpCallTest, ACallMayHaveADeadline) {
  HttpFixture fixture(WithSay({.allowed_steps = 2}));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  ASSERT_TRUE(client.Send(
      HttpFixture::PostText("/say", R"({"text": "abc", "words": 100})",
                            "X-Request-Timeout: 0.05\r\n")));
  fixture.engine().WaitUntilBlocked();
  const absl::Time late = fixture.clock.Now() + absl::Milliseconds(50);
  ASSERT_TRUE(WaitUntil([&] { return fixture.clock.Now() > late; }));
  fixture.OpenGates();
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 504 "));
  for (const char* wrong : {"0", "-1", "soon", "nan", "1e99", ""}) {
    EXPECT_THAT(
        fixture.Post("/say", "{}",
                     absl::StrCat("X-Request-Timeout: ", wrong, "\r\n")),
        EndsWith("400 (X-Request-Timeout) X-Request-Timeout must be once, a "
                 "number of seconds above 0"))
        << wrong;
  }
}

class HttpCallQueueTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Streams, HttpCallQueueTest,
                         ::testing::Values("false", "true"));

TEST_P(HttpCallQueueTest, AFullQueueSaysWhenToComeAgain) {
  HttpFixtureOptions options = WithSay({.allowed_steps = 0});
  options.scheduler.max_queued_requests = 1;
  options.scheduler.max_running = 1;
  HttpFixture fixture(std::move(options));
  std::deque<RawHttp> clients;
  std::string refused;
  // As all come from one address, two are queued, and one may run.
  while (clients.size() < 10) {
    RawHttp& client = clients.emplace_back();
    ASSERT_TRUE(client.Connect(fixture.port()));
    ASSERT_TRUE(client.Send(HttpFixture::PostText(
        "/say", absl::StrCat(R"({"text": "abc", "words": 1, "stream": )",
                             GetParam(), "}"))));
  }
  ASSERT_TRUE(WaitUntil([&] {
    for (RawHttp& client : clients) {
      if (!client.WaitReadable(absl::ZeroDuration())) continue;
      refused = client.ReadUntil("\r\n\r\n");
      if (!absl::StartsWith(refused, "HTTP/1.1 200 ")) return true;
    }
    return false;
  }));
  EXPECT_THAT(refused,
              AllOf(StartsWith("HTTP/1.1 429 "), HasSubstr("\r\nRetry-After: "),
                    HasSubstr("\r\nRetry-After-Ms: ")));
}

TEST(HttpCallTest, AnErrorAfterTheBeginningOfAStreamIsAnEventOfIt) {
  HttpFixture fixture(WithSay({.allowed_steps = 3}));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  ASSERT_TRUE(client.Send(HttpFixture::PostText(
      "/say", R"({"text": "abc", "words": 100, "stream": true})")));
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  fixture.engine().WaitUntilBlocked();
  fixture.calls->Cut();
  fixture.OpenGates();
  EXPECT_THAT(client.ReadToEnd(),
              HasSubstr("data: 503 () server shuts down: its drain timeout has "
                        "passed\n\n\r\n0\r\n\r\n"));
}

TEST(HttpCallTest, ADrainingServerTakesNoCalls) {
  HttpFixture fixture(WithSay());
  fixture.calls->Drain();
  EXPECT_THAT(fixture.Post("/say", R"({"text": "abc"})"),
              AllOf(StartsWith("HTTP/1.1 503 "),
                    EndsWith("503 () server is draining")));
  EXPECT_THAT(HttpGet(fixture.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpCallTest, ShutdownEndsCallsThatNobodyReads) {
  HttpFixture fixture(WithSay({.allowed_steps = 3}));
  RawHttp running, half;
  ASSERT_TRUE(running.Connect(fixture.port()));
  ASSERT_TRUE(running.Send(
      HttpFixture::PostText("/say", R"({"text": "abc", "words": 100})")));
  fixture.engine().WaitUntilBlocked();
  ASSERT_TRUE(half.Connect(fixture.port()));
  ASSERT_TRUE(half.Send(HttpRequestText(
      "POST", "/say", "Expect: 100-continue\r\nContent-Length: 9\r\n")));
  EXPECT_THAT(half.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100 "));
  fixture.OpenGates();
  fixture.http_calls->Shutdown(absl::ZeroDuration());
  running.ReadToEnd();
  EXPECT_EQ(half.ReadToEnd(), "");
  EXPECT_EQ(fixture.engine().live_sequences(), 0);
  EXPECT_THAT(fixture.Post("/say", "{}"), StartsWith("HTTP/1.1 503 "));
}

TEST(HttpCallTest, AThousandStreamsAtOnceAndProbesBesideThem) {
  const ScopedDescriptorLimit limit(8192);
  ASSERT_TRUE(limit.ok());
  constexpr int kStreams = 1000;
  HttpFixtureOptions options = WithSay({.allowed_steps = 0});
  options.scheduler.max_running = kStreams;
  options.scheduler.max_queued_requests = kStreams;
  options.max_tokenizer_queue = kStreams;
  HttpFixture fixture(std::move(options));
  std::deque<RawHttp> clients;
  for (int i = 0; i < kStreams; ++i) {
    ASSERT_TRUE(clients.emplace_back().Connect(fixture.port()));
    ASSERT_TRUE(clients.back().Send(HttpFixture::PostText(
        "/say", R"({"text": "abc", "words": 20, "stream": true})")));
  }
  const absl::Time begin = absl::Now();
  fixture.OpenGates();
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(HttpGet(fixture.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  }
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
  const std::string first = clients[0].ReadToEnd();
  EXPECT_THAT(first, StartsWith("HTTP/1.1 200 "));
  for (int i = 1; i < kStreams; ++i) {
    EXPECT_THAT(clients[i].ReadToEnd(), HasSubstr("end\n")) << i;
  }
}

}  // namespace
}  // namespace attend
