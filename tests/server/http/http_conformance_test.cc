// Requests as RFC 9110 and RFC 9112 have them, and as they forbid them.

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "server/http/http_server.h"
#include "tests/server/http/recording_listener.h"
#include "tests/support/field_rows.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::Duration kNever = absl::Hours(1);

// Answers a request with what the server has understood of it. Owns itself.
class Echo final : public HttpExchangeListener {
 public:
  static void Take(const HttpRequest& request,
                   std::shared_ptr<HttpExchange> exchange) {
    auto* echo = new Echo(request, exchange);
    exchange->Listen(*echo);
    exchange->ReadBody(/*tenant=*/0);
  }

 private:
  Echo(const HttpRequest& request, std::shared_ptr<HttpExchange> exchange)
      : head_(absl::StrCat(request.path, " ?", request.query, " ",
                           request.authority, " ")),
        exchange_(std::move(exchange)) {}

  void OnBody(HttpBody body) override {
    exchange_->Reply(TextResponse(200, absl::StrCat(head_, body.text, "\n")));
  }
  void OnWritten() override {}
  void OnEnd(HttpEnd) override { delete this; }

  const std::string head_;
  const std::shared_ptr<HttpExchange> exchange_;
};

std::unique_ptr<HttpServer> StartEchoServer(HttpOptions options) {
  options.port = 0;
  HttpRouter router;
  router.Add("POST", "/echo", Echo::Take);
  router.Add("GET", "/livez",
             [](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
               to->Reply(TextResponse(200, "ok\n"));
             });
  router.Add("GET", "/busy",
             [](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
               to->Reply(TextResponse(503, "busy\n"));
             });
  router.Add("GET", "/limited",
             [](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
               HttpResponse response = TextResponse(429, "limited\n");
               response.headers.emplace_back("Retry-After", "7");
               to->Reply(std::move(response));
             });
  auto server = HttpServer::Start(options, std::move(router));
  EXPECT_TRUE(server.ok()) << server.status();
  return *std::move(server);
}

// The value of a header of an answer; empty: none.
std::string HeaderOf(const std::string& answer, absl::string_view name) {
  const std::string begin = absl::StrCat("\r\n", name, ": ");
  const size_t at = answer.find(begin);
  if (at == answer.npos || at > answer.find("\r\n\r\n")) return "";
  const size_t value = at + begin.size();
  return answer.substr(value, answer.find("\r\n", value) - value);
}

// Takes the answers of a connection apart.
std::vector<int> StatusesIn(std::string answers, bool have_bodies) {
  std::vector<int> statuses;
  while (!answers.empty()) {
    int status = 0, bytes = 0;
    EXPECT_THAT(answers, StartsWith("HTTP/1.1 "));
    EXPECT_TRUE(absl::SimpleAtoi(answers.substr(9, 3), &status)) << answers;
    EXPECT_TRUE(absl::SimpleAtoi(HeaderOf(answers, "Content-Length"), &bytes));
    statuses.push_back(status);
    const size_t end = answers.find("\r\n\r\n") + 4 + (have_bodies ? bytes : 0);
    if (end > answers.size()) break;
    answers.erase(0, end);
  }
  return statuses;
}

std::string Exchange(int port, const std::string& bytes) {
  RawHttp client;
  EXPECT_TRUE(client.Connect(port));
  // The server may have seen enough before all is sent.
  if (client.Send(bytes)) client.EndSending();
  return client.ReadToEnd();
}

TEST(HttpConformanceTest, RequestsOfTheField) {
  const auto server = StartEchoServer({.host = "127.0.0.1"});
  const std::string longer(kMaxHttpHeadBytes + 1, 'x');
  for (const auto& row : FieldRows("http_requests")) {
    SCOPED_TRACE(row.at("case").get<std::string>());
    const std::string sent = absl::StrReplaceAll(
        row.at("send").get<std::string>(), {{"%LONG%", longer}});
    const std::string answers = Exchange(server->port(), sent);
    EXPECT_THAT(StatusesIn(answers, !row.value("head", false)),
                ElementsAreArray(row.at("answers").get<std::vector<int>>()));
    for (const auto& text : row.value("has", std::vector<std::string>())) {
      EXPECT_THAT(answers, HasSubstr(text));
    }
    for (const auto& text : row.value("lacks", std::vector<std::string>())) {
      EXPECT_THAT(answers, Not(HasSubstr(text)));
    }
  }
  EXPECT_THAT(HttpGet(server->port(), "/livez"), StartsWith("HTTP/1.1 200 "));
}

// RFC 9110, 6.6.1 and 5.6.7.
TEST(HttpConformanceTest, AnswersHaveTheirDate) {
  const auto server = StartEchoServer({.host = "127.0.0.1"});
  const absl::Time before = absl::Now() - absl::Seconds(1);
  for (const char* path : {"/livez", "/missing", "/busy"}) {
    const std::string date = HeaderOf(HttpGet(server->port(), path), "Date");
    absl::Time time;
    std::string error;
    ASSERT_TRUE(
        absl::ParseTime("%a, %d %b %E4Y %H:%M:%S GMT", date, &time, &error))
        << date << ": " << error;
    EXPECT_EQ(date.size(), 29u);
    EXPECT_GE(time, before);
    EXPECT_LE(time, absl::Now());
  }
}

TEST(HttpConformanceTest, WhoIsToComeAgainIsToldWhen) {
  const auto server = StartEchoServer({.host = "127.0.0.1"});
  const int port = server->port();
  EXPECT_EQ(HeaderOf(HttpGet(port, "/busy"), "Retry-After"), "1");
  const std::string limited = HttpGet(port, "/limited");
  EXPECT_EQ(HeaderOf(limited, "Retry-After"), "7");
  EXPECT_THAT(limited, Not(HasSubstr("Retry-After: 1\r\n")));
  EXPECT_EQ(HeaderOf(HttpGet(port, "/livez"), "Retry-After"), "");
}

// The head of a request that comes without the rest of an empty line is none
// that is late.
TEST(HttpConformanceTest, EmptyLinesAreNoRequest) {
  const auto server = StartEchoServer({.host = "127.0.0.1",
                                       .head_timeout = absl::Milliseconds(50),
                                       .idle_timeout = kNever});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server->port()));
  ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  for (const char* part : {"\r", "\n\r\n", "\r"}) {
    ASSERT_TRUE(client.Send(part));
    EXPECT_FALSE(client.WaitReadable(absl::Milliseconds(60)));
  }
  ASSERT_TRUE(
      client.Send(absl::StrCat("\n", HttpRequestText("GET", "/livez"))));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
}

// A client that has ended its side of the connection gets its answer; one that
// has gone does not hold up the work (TellsThatTheClientHasGone).
TEST(HttpConformanceTest, AClientThatSendsNoMoreGetsItsAnswer) {
  ListenedServer server({}, 2);
  RawHttp whole, streamed;
  ASSERT_TRUE(whole.Connect(server.port()));
  ASSERT_TRUE(whole.Send(HttpRequestText("POST", "/call")));
  whole.EndSending();
  // The first byte of the answer comes in advance.
  EXPECT_TRUE(whole.WaitReadable(absl::Minutes(1)));
  server.call(0).exchange().Reply(TextResponse(202, "done"));
  EXPECT_THAT(whole.ReadAnswer(), StartsWith("HTTP/1.1 202 Accepted\r\n"));
  EXPECT_EQ(server.call(0).end().how, HttpEnd::kSent);

  ASSERT_TRUE(streamed.Connect(server.port()));
  ASSERT_TRUE(streamed.Send(HttpRequestText("POST", "/call")));
  HttpExchange& exchange = server.call(1).exchange();
  exchange.BeginStream(TextResponse(200, ""));
  EXPECT_THAT(streamed.ReadUntil("\r\n\r\n"),
              StartsWith("HTTP/1.1 200 OK\r\n"));
  streamed.EndSending();
  EXPECT_TRUE(streamed.WaitReadable(absl::Minutes(1)));
  exchange.Write("first");
  EXPECT_EQ(streamed.ReadChunk(), "first");
  server.call(1).AwaitWritten(2);
  exchange.EndStream("second");
  EXPECT_EQ(streamed.ReadChunk(), "second");
  EXPECT_EQ(streamed.ReadChunk(), "");
  EXPECT_EQ(server.call(1).end().how, HttpEnd::kSent);
}

TEST(HttpConformanceTest, AClientThatGoesBetweenTwoPartsIsGone) {
  ListenedServer server({});
  {
    RawHttp client;
    ASSERT_TRUE(client.Connect(server.port()));
    ASSERT_TRUE(client.Send(HttpRequestText("POST", "/call")));
    server.call().exchange().BeginStream(TextResponse(200, ""));
    EXPECT_THAT(client.ReadUntil("\r\n\r\n"), EndsWith("\r\n\r\n"));
    server.call().AwaitWritten(1);
  }
  EXPECT_EQ(server.call().end().how, HttpEnd::kGone);
}

}  // namespace
}  // namespace attend
