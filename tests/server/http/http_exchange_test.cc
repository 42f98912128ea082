// Requests with bodies, and answers that take long.

#include "server/http/http_exchange.h"

#include <gmock/gmock.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "server/http/cors.h"
#include "tests/server/http/recording_listener.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::Duration kShort = absl::Milliseconds(50);

std::string Post(absl::string_view body, absl::string_view headers = "") {
  return absl::StrCat(
      HttpRequestText(
          "POST", "/call",
          absl::StrCat("Content-Length: ", body.size(), "\r\n", headers)),
      body);
}

HttpResponse Streamed(const std::string& text) {
  return {.status = 200,
          .headers = {{"Content-Type", "text/event-stream"}},
          .body = std::make_shared<const std::string>(text)};
}

TEST(HttpExchangeTest, ABodyArrivesWhole) {
  // Longer than what the session reads at once, and than its buffer.
  const std::string longer(100000, 'x');
  const struct {
    std::string request, body;
  } cases[] = {
      {HttpRequestText("POST", "/call"), ""},
      {Post(""), ""},
      {Post("{}"), "{}"},
      {Post(longer), longer},
      {HttpRequestText("POST", "/call", "Transfer-Encoding: chunked\r\n") +
           "3\r\nabc\r\n00002;x=y\r\nde\r\n0\r\n\r\n",
       "abcde"},
  };
  for (const auto& c : cases) {
    ListenedServer server({});
    RawHttp client;
    ASSERT_TRUE(client.Connect(server.port()));
    ASSERT_TRUE(client.Send(c.request));
    EXPECT_EQ(server.call().body(), c.body);
    server.call().exchange().Reply(TextResponse(200, "done"));
    EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\ndone"));
    EXPECT_EQ(server.call().end().how, HttpEnd::kSent);
    // The connection goes on behind the body.
    ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
    EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  }
}

TEST(HttpExchangeTest, AClientThatAsksIsToldToSendItsBody) {
  ListenedServer server({});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send(HttpRequestText(
      "POST", "/call", "Expect: 100-continue\r\nContent-Length: 2\r\n")));
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_FALSE(server.call().has_body());
  ASSERT_TRUE(client.Send("{}"));
  EXPECT_EQ(server.call().body(), "{}");
}

TEST(HttpExchangeTest, TooMuchIsRefused) {
  const std::string chunk = "8\r\n12345678\r\n";
  const struct {
    std::string request;
    int status;
  } cases[] = {
      {Post("12345678901"), 413},
      {HttpRequestText("POST", "/call", "Transfer-Encoding: chunked\r\n") +
           chunk + chunk,
       413},
      {HttpRequestText("POST", "/call", "Transfer-Encoding: chunked\r\n") +
           "ffffffffffffffffff\r\n",
       400},
      {HttpRequestText("POST", "/call", "Transfer-Encoding: chunked\r\n") +
           "zz\r\n",
       400},
      // Behind the last chunk, and in the head of one.
      {HttpRequestText("POST", "/call", "Transfer-Encoding: chunked\r\n") +
           "0\r\na: " + std::string(10000, 'a'),
       431},
      {HttpRequestText("POST", "/call", "Transfer-Encoding: chunked\r\n") +
           "1;" + std::string(10000, 'a'),
       431},
  };
  for (const auto& c : cases) {
    ListenedServer server({.max_body_bytes = 10});
    RawHttp client;
    ASSERT_TRUE(client.Connect(server.port()));
    client.Send(c.request);
    EXPECT_THAT(client.ReadToEnd(),
                StartsWith(absl::StrCat("HTTP/1.1 ", c.status, " ")))
        << c.request.substr(0, 200);
  }
}

TEST(HttpExchangeTest, AllBodiesTogetherHaveALimit) {
  // One tenant has at most 105.
  ListenedServer server({}, 4, /*max_request_bytes=*/140);
  RawHttp clients[4];
  for (RawHttp& client : clients) ASSERT_TRUE(client.Connect(server.port()));
  const std::string body(60, 'x');
  ASSERT_TRUE(clients[0].Send(Post(body)));
  EXPECT_EQ(server.call(0).body(), body);
  ASSERT_TRUE(clients[1].Send(Post(body)));
  EXPECT_THAT(clients[1].ReadToEnd(), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(server.call(1).end().how, HttpEnd::kRefused);
  EXPECT_EQ(server.call(1).end().refusal, 503);
  // It counts as long as somebody has it: here the listener.
  server.call(0).exchange().Reply(TextResponse(200, ""));
  EXPECT_THAT(clients[0].ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  ASSERT_TRUE(clients[2].Send(Post(body.substr(0, 40))));
  EXPECT_EQ(server.call(2).body().size(), 40u);
  server.call(0).DropBody();
  ASSERT_TRUE(clients[3].Send(Post(body)));
  EXPECT_EQ(server.call(3).body(), body);
}

TEST(HttpExchangeTest, ABodyThatComesSlowlyMakesRoom) {
  ListenedServer server({}, 2, /*max_request_bytes=*/140);
  RawHttp clients[2];
  for (RawHttp& client : clients) ASSERT_TRUE(client.Connect(server.port()));
  const std::string body(60, 'x');
  ASSERT_TRUE(clients[0].Send(Post(body).substr(0, Post(body).size() - 1)));
  // Its bytes have been read when another request has been answered.
  RawHttp probe;
  ASSERT_TRUE(probe.Connect(server.port()));
  ASSERT_TRUE(probe.Send(HttpRequestText("GET", "/livez", "")));
  EXPECT_THAT(probe.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
  ASSERT_TRUE(clients[1].Send(Post(body)));
  EXPECT_EQ(server.call(1).body(), body);
  EXPECT_THAT(clients[0].ReadToEnd(), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(server.call(0).end().refusal, 503);
}

TEST(HttpExchangeTest, ABodyHasToArriveInTime) {
  ListenedServer server({.head_timeout = kShort});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send(
      HttpRequestText("POST", "/call", "Content-Length: 1000\r\n")));
  // A byte now and then is not enough.
  while (!client.WaitReadable(kShort / 10)) ASSERT_TRUE(client.Send("b"));
  EXPECT_THAT(client.ReadToEnd(), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(server.call().end().refusal, 408);
}

TEST(HttpExchangeTest, AStreamIsWrittenPartByPart) {
  ListenedServer server({});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send(Post("{}")));
  HttpExchange& exchange = server.call().exchange();
  exchange.BeginStream(Streamed("first"));
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, AllOf(HasSubstr("Transfer-Encoding: chunked\r\n"),
                          Not(HasSubstr("Content-Length"))));
  EXPECT_EQ(client.ReadChunk(), "first");
  server.call().AwaitWritten(1);
  exchange.Write("second");
  EXPECT_EQ(client.ReadChunk(), "second");
  server.call().AwaitWritten(2);
  exchange.EndStream("third");
  EXPECT_EQ(client.ReadChunk(), "third");
  EXPECT_EQ(client.ReadChunk(), "");
  EXPECT_EQ(server.call().end().how, HttpEnd::kSent);
  ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
  EXPECT_THAT(client.ReadAnswer(), StartsWith("HTTP/1.1 200 "));
}

TEST(HttpExchangeTest, ASilentStreamIsKeptAlive) {
  ListenedServer server({.stream_keepalive = kShort});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send(Post("{}")));
  HttpExchange& exchange = server.call().exchange();
  HttpResponse head = Streamed("");
  head.filler = ": nothing\n";
  exchange.BeginStream(std::move(head));
  client.ReadUntil("\r\n\r\n");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.ReadChunk(), ": nothing\n");
  // Nobody hears of it but the client.
  EXPECT_EQ(server.call().written(), 1);
  exchange.Write("a part");
  std::string chunk;
  while ((chunk = client.ReadChunk()) == ": nothing\n") {
  }
  EXPECT_EQ(chunk, "a part");
  EXPECT_EQ(client.ReadChunk(), ": nothing\n");
  exchange.EndStream("");
  while ((chunk = client.ReadChunk()) == ": nothing\n") {
  }
  EXPECT_EQ(chunk, "");
  EXPECT_EQ(server.call().end().how, HttpEnd::kSent);
  // The next answer of the connection is none of a stream.
  ASSERT_TRUE(client.Send(HttpRequestText("GET", "/livez")));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\nok\n"));
  EXPECT_FALSE(client.WaitReadable(2 * kShort));
}

TEST(HttpExchangeTest, AStreamIsKeptAliveOnlyIfItShallBe) {
  ListenedServer server({.stream_keepalive = absl::ZeroDuration()});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send(Post("{}")));
  HttpResponse head = Streamed("");
  head.filler = ": nothing\n";
  server.call().exchange().BeginStream(std::move(head));
  client.ReadUntil("\r\n\r\n");
  EXPECT_FALSE(client.WaitReadable(2 * kShort));
}

// A client that does not read what keeps a stream alive is slow, too.
TEST(HttpExchangeTest, AClientThatReadsNoFillerIsCutOff) {
  static const std::string longer(4 << 20, ':');
  ListenedServer server({.stream_keepalive = kShort, .answer_timeout = kShort});
  RawHttp client;
  client.ReceiveLittle();
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send(Post("{}")));
  HttpResponse head = Streamed("");
  head.filler = longer;
  server.call().exchange().BeginStream(std::move(head));
  EXPECT_EQ(server.call().end().how, HttpEnd::kSlow);
}

TEST(HttpExchangeTest, AStreamForHttp10EndsWithTheConnection) {
  ListenedServer server({});
  RawHttp client;
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send("POST /call HTTP/1.0\r\n\r\n"));
  HttpExchange& exchange = server.call().exchange();
  exchange.BeginStream(Streamed("first,"));
  server.call().AwaitWritten(1);
  exchange.EndStream("second");
  EXPECT_THAT(client.ReadToEnd(), EndsWith("\r\n\r\nfirst,second"));
}

TEST(HttpExchangeTest, TellsThatTheClientHasGone) {
  for (const bool streams : {false, true}) {
    ListenedServer server({});
    {
      RawHttp client;
      ASSERT_TRUE(client.Connect(server.port()));
      ASSERT_TRUE(client.Send(Post("{}")));
      if (streams) {
        server.call().exchange().BeginStream(Streamed("first"));
        server.call().AwaitWritten(1);
      } else {
        EXPECT_EQ(server.call().body(), "{}");
      }
    }
    EXPECT_EQ(server.call().end().how, HttpEnd::kGone);
    server.call().exchange().Write("nobody reads this");
  }
}

TEST(HttpExchangeTest, AClientThatGoesBeforeItsBodyIsGone) {
  ListenedServer server({});
  {
    RawHttp client;
    ASSERT_TRUE(client.Connect(server.port()));
    ASSERT_TRUE(
        client.Send(HttpRequestText("POST", "/call", "Content-Length: 9\r\n")));
    server.call().exchange();
  }
  EXPECT_EQ(server.call().end().how, HttpEnd::kGone);
  EXPECT_FALSE(server.call().has_body());
}

// A part is not taken before the one before it has been read.
TEST(HttpExchangeTest, ASlowReaderIsCutOff) {
  ListenedServer server({.answer_timeout = kShort});
  RawHttp client;
  client.ReceiveLittle();
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(client.Send(Post("{}")));
  HttpExchange& exchange = server.call().exchange();
  exchange.BeginStream(Streamed(std::string(4 << 20, 'x')));
  EXPECT_EQ(server.call().end().how, HttpEnd::kSlow);
  EXPECT_EQ(server.call().written(), 0);
}

TEST(HttpExchangeTest, WhatFollowsWaitsForTheAnswer) {
  ListenedServer server({}, 2);
  RawHttp client;
  ASSERT_TRUE(client.Connect(server.port()));
  // More than the session keeps: it waits in the network.
  const std::string second(50000, 'y');
  ASSERT_TRUE(client.Send(absl::StrCat(Post("first"), Post(second))));
  EXPECT_EQ(server.call(0).body(), "first");
  server.call(0).exchange().Reply(TextResponse(200, "1"));
  EXPECT_THAT(client.ReadAnswer(), EndsWith("\r\n\r\n1"));
  EXPECT_EQ(server.call(1).body(), second);
}

TEST(HttpExchangeTest, RunningCallsKeepTheirConnections) {
  // One of two may be busy.
  ListenedServer server({.max_connections = 2}, 2);
  RawHttp running, second, idle, probe;
  ASSERT_TRUE(running.Connect(server.port()));
  ASSERT_TRUE(running.Send(Post("{}")));
  EXPECT_EQ(server.call(0).body(), "{}");
  ASSERT_TRUE(idle.Connect(server.port()));
  ASSERT_TRUE(second.Connect(server.port()));
  EXPECT_EQ(idle.ReadToEnd(), "");
  ASSERT_TRUE(second.Send(Post("{}")));
  EXPECT_THAT(second.ReadToEnd(), StartsWith("HTTP/1.1 503 "));
  EXPECT_EQ(server.call(1).end().how, HttpEnd::kRefused);
  EXPECT_THAT(HttpGet(server.port(), "/livez"), StartsWith("HTTP/1.1 200 "));
  server.call(0).exchange().Reply(TextResponse(200, "done"));
  EXPECT_THAT(running.ReadAnswer(), EndsWith("\r\n\r\ndone"));
}

TEST(HttpExchangeTest, TheEndOfTheServerIsTheEndOfItsExchanges) {
  ListenedServer server({}, 2);
  RawHttp client, half;
  ASSERT_TRUE(client.Connect(server.port()));
  ASSERT_TRUE(half.Connect(server.port()));
  ASSERT_TRUE(client.Send(Post("{}")));
  EXPECT_EQ(server.call(0).body(), "{}");
  ASSERT_TRUE(
      half.Send(HttpRequestText("POST", "/call", "Content-Length: 9\r\n")));
  server.call(1).exchange();
  server.Stop();
  EXPECT_EQ(server.call(0).end().how, HttpEnd::kClosed);
  EXPECT_EQ(server.call(1).end().how, HttpEnd::kClosed);
}

TEST(HttpExchangeTest, PagesOfChosenOriginsMayRead) {
  ListenedServer server({.cors_origins = {"https://app.example"}});
  const auto ask = [&](const char* method, const char* path,
                       const char* headers) {
    RawHttp client;
    EXPECT_TRUE(client.Connect(server.port()));
    EXPECT_TRUE(client.Send(HttpRequestText(
        method, path, absl::StrCat(headers, "Connection: close\r\n"))));
    return client.ReadToEnd();
  };
  constexpr char kAllowed[] =
      "Access-Control-Allow-Origin: https://app.example\r\n";
  EXPECT_THAT(ask("GET", "/livez", "Origin: https://app.example\r\n"),
              AllOf(HasSubstr(kAllowed),
                    HasSubstr("Access-Control-Expose-Headers: X-Request-Id, "
                              "Retry-After, Retry-After-Ms\r\n")));
  EXPECT_THAT(ask("GET", "/missing", "Origin: https://app.example\r\n"),
              AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr(kAllowed)));
  EXPECT_THAT(ask("GET", "/livez", "Origin: https://evil.example\r\n"),
              Not(HasSubstr("Access-Control")));
  EXPECT_THAT(
      ask("OPTIONS", "/call",
          "Origin: https://app.example\r\n"
          "Access-Control-Request-Method: POST\r\n"),
      AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(kAllowed),
            HasSubstr("Access-Control-Allow-Methods: POST\r\n"),
            HasSubstr("Access-Control-Allow-Headers: *, Authorization\r\n")));
  EXPECT_THAT(ask("OPTIONS", "/call", ""), StartsWith("HTTP/1.1 405 "));
}

TEST(HttpExchangeTest, OriginsAreChecked) {
  EXPECT_TRUE(CheckCorsOrigins({"*", "http://localhost:3000"}).ok());
  for (const char* wrong : {"", "app.example", "https://", "https://a/b",
                            "https://*.example", "null"}) {
    EXPECT_THAT(std::string(CheckCorsOrigins({wrong}).message()),
                HasSubstr(absl::StrCat("has '", wrong, "'")));
  }
}

}  // namespace
}  // namespace attend
