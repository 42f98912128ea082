#include "server/connect/connect_api.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "attend/v1/attend.pb.h"
#include "attend/v1/status_details.pb.h"
#include "server/connect/connect_error.h"
#include "server/connect/connect_translator.h"
#include "server/connect/envelope.h"
#include "server/service/retry_after.h"
#include "tests/server/http_call/http_fixture.h"

namespace attend {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kGenerate[] = "/attend.v1.Attend/Generate";
constexpr char kStream[] = "/attend.v1.Attend/GenerateStream";
constexpr char kAsk[] =
    R"({"inputs": [{"text": "abc"}], "params": {"maxNewTokens": 3}})";

HttpFixtureOptions WithConnect(FakeEngineOptions engine = {}) {
  HttpFixtureOptions options;
  options.engines = {std::move(engine)};
  options.apis = {ConnectApi(AttendMethods())};
  return options;
}

// A POST with another Content-Type than that of HttpFixture::Post().
std::string PostAs(const HttpFixture& fixture, absl::string_view type,
                   absl::string_view path, absl::string_view body,
                   absl::string_view headers = "") {
  RawHttp client;
  const std::string head = HttpRequestText(
      "POST", path,
      absl::StrCat("Connection: close\r\nContent-Type: ", type,
                   "\r\nContent-Length: ", body.size(), "\r\n", headers));
  if (!client.Connect(fixture.port()) ||
      !client.Send(absl::StrCat(head, body))) {
    return "";
  }
  return client.ReadToEnd();
}

std::string InEnvelope(absl::string_view payload) {
  std::string text;
  AppendEnvelope(kMessageFlags, payload, text);
  return text;
}

struct Stream {
  std::vector<std::string> messages;
  json end;
};

// Takes a body that may be in chunks apart.
Stream ReadStream(const std::string& answer) {
  std::string rest = BodyOf(answer), body;
  if (absl::StrContains(answer, "Transfer-Encoding: chunked")) {
    while (!rest.empty()) {
      const size_t line = rest.find("\r\n");
      const size_t size = std::stoul(rest.substr(0, line), nullptr, 16);
      body += rest.substr(line + 2, size);
      rest.erase(0, line + 2 + size + 2);
    }
  } else {
    body = rest;
  }
  Stream stream;
  while (body.size() >= 5) {
    uint32_t size = 0;
    for (int i = 1; i < 5; ++i) {
      size = size << 8 | static_cast<uint8_t>(body[i]);
    }
    const std::string payload = body.substr(5, size);
    if (body[0] == kMessageFlags) stream.messages.push_back(payload);
    if (body[0] == kEndOfStreamFlags) stream.end = json::parse(payload);
    body.erase(0, 5 + size);
  }
  EXPECT_EQ(body, "");
  return stream;
}

TEST(ConnectApiTest, AnswersInJson) {
  HttpFixture fixture(WithConnect());
  const std::string answer = fixture.Post(kGenerate, kAsk);
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 "),
                            HasSubstr("Content-Type: application/json\r\n")));
  const json result = json::parse(BodyOf(answer))["results"][0];
  EXPECT_EQ(result["choices"][0]["text"], "{|}");
  EXPECT_EQ(result["choices"][0]["finishReason"], "FINISH_REASON_MAX_LENGTH");
  EXPECT_EQ(result["status"], json::object());
  fixture.ExpectCounted(
      R"(code="OK",method="/attend.v1.Attend/Generate",model="fake")");
}

TEST(ConnectApiTest, AnswersInProtobufsBytes) {
  HttpFixture fixture(WithConnect());
  v1::GenerateRequest request;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(kAsk, &request).ok());
  const std::string answer = PostAs(fixture, "application/proto", kGenerate,
                                    request.SerializeAsString());
  EXPECT_THAT(answer, HasSubstr("Content-Type: application/proto\r\n"));
  v1::GenerateResponse response;
  ASSERT_TRUE(response.ParseFromString(BodyOf(answer)));
  EXPECT_EQ(response.results(0).choices(0).text(), "{|}");
  EXPECT_THAT(BodyOf(PostAs(fixture, "application/proto", kGenerate, "\xff")),
              HasSubstr("the body is no message attend.v1.GenerateRequest"));
}

TEST(ConnectApiTest, StreamsEnvelopes) {
  HttpFixture fixture(WithConnect());
  const std::string answer =
      PostAs(fixture, "application/connect+json", kStream, InEnvelope(kAsk));
  EXPECT_THAT(answer,
              AllOf(StartsWith("HTTP/1.1 200 "),
                    HasSubstr("Content-Type: application/connect+json\r\n")));
  const Stream stream = ReadStream(answer);
  std::string text;
  for (const std::string& message : stream.messages) {
    text += json::parse(message).value("text", "");
  }
  EXPECT_EQ(text, "{|}");
  EXPECT_EQ(stream.end, json::object());

  v1::GenerateRequest request;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(kAsk, &request).ok());
  std::string same;
  for (const std::string& message :
       ReadStream(PostAs(fixture, "application/connect+proto", kStream,
                         InEnvelope(request.SerializeAsString())))
           .messages) {
    v1::GenerateChunk chunk;
    ASSERT_TRUE(chunk.ParseFromString(message));
    same += chunk.text();
  }
  EXPECT_EQ(same, "{|}");
}

TEST(ConnectApiTest, EveryMethodHasARoute) {
  HttpFixture fixture(WithConnect());
  for (const Method& method : AttendMethods()) {
    const std::string path = absl::StrCat("/attend.v1.Attend/", method.name());
    const bool streams = method.descriptor->server_streaming();
    const std::string body = R"({"color": 1})";
    const std::string answer = streams
                                   ? PostAs(fixture, "application/connect+json",
                                            path, InEnvelope(body))
                                   : fixture.Post(path, body);
    EXPECT_THAT(answer, HasSubstr("color is not a field that")) << path;
  }
}

TEST(ConnectApiTest, ErrorsHaveTheProtocolsForm) {
  HttpFixture fixture(WithConnect());
  const struct {
    const char *path, *body, *status, *code, *message;
  } cases[] = {
      {kGenerate, "{}", "400", "invalid_argument", "inputs"},
      {kGenerate, "{", "400", "invalid_argument", "the body: not valid json"},
      {kGenerate, R"({"model": "b", "inputs": [{"text": "a"}]})", "404",
       "not_found", "model 'b' is not served"},
      {"/attend.v1.Attend/Sing", "{}", "404", "invalid_argument", "not found"},
  };
  for (const auto& c : cases) {
    const std::string answer = fixture.Post(c.path, c.body);
    EXPECT_THAT(answer, StartsWith(absl::StrCat("HTTP/1.1 ", c.status, " ")));
    const json error = json::parse(BodyOf(answer));
    EXPECT_EQ(error["code"], c.code);
    EXPECT_THAT(error["message"].get<std::string>(), StartsWith(c.message));
  }
  EXPECT_THAT(HttpGet(fixture.port(), kGenerate),
              AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: POST\r\n")));
}

TEST(ConnectApiTest, ErrorsShowLittleOfALongBody) {
  HttpFixture fixture(WithConnect());
  const std::string body =
      BodyOf(fixture.Post(kGenerate, "{" + std::string(100'000, '\t') + "x"));
  EXPECT_THAT(body, HasSubstr("not valid json"));
  EXPECT_LT(body.size(), 1000);
}

TEST(ConnectApiTest, HeadsThatAreWrong) {
  HttpFixture fixture(WithConnect());
  const struct {
    const char *type, *headers, *status, *problem;
  } cases[] = {
      {"text/plain", "", "415", "Content-Type must be once, application/json"},
      {"application/connect+json", "", "415", "Content-Type must be once"},
      {"application/json", "Connect-Protocol-Version: 2\r\n", "400",
       "Connect-Protocol-Version must be 1"},
      {"application/json", "Content-Encoding: gzip\r\n", "501",
       "Content-Encoding must be identity"},
      {"application/json", "Connect-Timeout-Ms: 1.5\r\n", "400",
       "Connect-Timeout-Ms must be once"},
      {"application/json", "Connect-Timeout-Ms: 12345678901\r\n", "400",
       "of at most 10 digits"},
  };
  for (const auto& c : cases) {
    const std::string answer =
        PostAs(fixture, c.type, kGenerate, kAsk, c.headers);
    EXPECT_THAT(answer, StartsWith(absl::StrCat("HTTP/1.1 ", c.status, " ")));
    EXPECT_THAT(answer, HasSubstr(c.problem));
  }
  EXPECT_THAT(PostAs(fixture, "Application/JSON; charset=utf-8", kGenerate,
                     kAsk, "Connect-Timeout-Ms: 60000\r\n"),
              StartsWith("HTTP/1.1 200 "));
}

TEST(ConnectApiTest, ErrorsOfStreamsAreInTheLastEnvelope) {
  HttpFixture fixture(WithConnect());
  for (const std::string& body : {InEnvelope("{}"), std::string("{}")}) {
    const std::string answer =
        PostAs(fixture, "application/connect+json", kStream, body);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
    const Stream stream = ReadStream(answer);
    EXPECT_TRUE(stream.messages.empty());
    EXPECT_EQ(stream.end["error"]["code"], "invalid_argument");
  }
  EXPECT_THAT(PostAs(fixture, "application/json", kStream, kAsk),
              StartsWith("HTTP/1.1 415 "));
}

// The protocol has nothing to send while no message is there.
TEST(ConnectApiTest, AStreamBeginsOnceItIsAdmitted) {
  HttpFixtureOptions options = WithConnect({.allowed_steps = 0});
  options.http.stream_keepalive = absl::Milliseconds(10);
  HttpFixture fixture(std::move(options));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  const std::string body = InEnvelope(kAsk);
  ASSERT_TRUE(client.Send(absl::StrCat(
      HttpRequestText("POST", kStream,
                      absl::StrCat("Connection: close\r\n"
                                   "Content-Type: application/connect+json\r\n"
                                   "Content-Length: ",
                                   body.size(), "\r\n")),
      body)));
  const std::string head = client.ReadUntil("\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200 "));
  EXPECT_FALSE(client.WaitReadable(absl::Milliseconds(50)));
  fixture.OpenGates();
  const Stream stream = ReadStream(head + client.ReadToEnd());
  EXPECT_FALSE(stream.messages.empty());
  EXPECT_EQ(stream.end, json::object());
}

TEST(ConnectApiTest, AnErrorInTheMiddleOfAStreamEndsIt) {
  HttpFixture fixture(WithConnect({.allowed_steps = 3}));
  RawHttp client;
  ASSERT_TRUE(client.Connect(fixture.port()));
  const std::string body = InEnvelope(
      R"({"inputs": [{"text": "abc"}], "params": {"maxNewTokens": 100}})");
  ASSERT_TRUE(client.Send(absl::StrCat(
      HttpRequestText("POST", kStream,
                      absl::StrCat("Connection: close\r\n"
                                   "Content-Type: application/connect+json\r\n"
                                   "Content-Length: ",
                                   body.size(), "\r\n")),
      body)));
  std::string answer = client.ReadUntil("\r\n\r\n");
  // The end of the chunk that holds the first message.
  answer += client.ReadUntil("}\r\n");
  fixture.engine().WaitUntilBlocked();
  fixture.calls->Cut();
  fixture.OpenGates();
  answer += client.ReadToEnd();
  const Stream stream = ReadStream(answer);
  EXPECT_FALSE(stream.messages.empty());
  EXPECT_EQ(stream.end["error"]["code"], "unavailable");
}

TEST(ConnectApiTest, ADeadlineEndsACall) {
  HttpFixture fixture(WithConnect({.allowed_steps = 0}));
  EXPECT_THAT(fixture.Post(kGenerate, kAsk, "Connect-Timeout-Ms: 0\r\n"),
              AllOf(StartsWith("HTTP/1.1 504 "),
                    HasSubstr("\"code\":\"deadline_exceeded\"")));
}

// Writing JSON would hold up other calls.
TEST(ConnectApiTest, LargeAnswersAreForProtobufOnly) {
  constexpr char kTokenize[] = "/attend.v1.Attend/Tokenize";
  HttpFixture fixture(WithConnect({}));
  v1::TokenizeRequest request;
  request.set_no_special_tokens(true);
  // The fake's tokens are bytes. Each of these takes 8 bytes of the answer.
  std::string text;
  for (int i = 0; i < 32768; ++i) text += "\u00e4";
  for (int i = 0; i < 16; ++i) request.add_texts(text);
  std::string body;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(request, &body).ok());
  EXPECT_THAT(fixture.Post(kTokenize, body),
              AllOf(StartsWith("HTTP/1.1 400 "),
                    HasSubstr("the limit in JSON is 8388608; ask for less")));
  const std::string answer = PostAs(fixture, "application/proto", kTokenize,
                                    request.SerializeAsString());
  EXPECT_GT(answer.size(), kMaxJsonAnswerBytes);
  EXPECT_TRUE(absl::StartsWith(answer, "HTTP/1.1 200 "));
}

// So clients that read a little now and then do not hold all memory.
TEST(ConnectApiTest, TheOldestUnreadAnswerMakesRoom) {
  HttpFixtureOptions options = WithConnect({});
  options.max_unread_bytes = 8 << 20;
  HttpFixture fixture(std::move(options));
  v1::TokenizeRequest request;
  for (int i = 0; i < 8; ++i) request.add_texts(std::string(65535, 'a'));
  std::string body;
  ASSERT_TRUE(google::protobuf::util::MessageToJsonString(request, &body).ok());
  const std::string post =
      HttpFixture::PostText("/attend.v1.Attend/Tokenize", body);
  RawHttp slow;
  slow.ReceiveLittle();
  ASSERT_TRUE(slow.Connect(fixture.port()));
  ASSERT_TRUE(slow.Send(post));
  EXPECT_THAT(slow.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(absl::EndsWith(fixture.Post("/attend.v1.Attend/Tokenize", body),
                               "\"fake\"}"));
  }
  EXPECT_FALSE(absl::EndsWith(slow.ReadToEnd(), "\"fake\"}"));
  EXPECT_TRUE(WaitUntil([&] {
    return absl::StrContains(fixture.metrics.Serialize(),
                             "attend_slow_readers_total{model=\"fake\"} 1");
  }));
}

TEST(ConnectErrorTest, SaysWhenToComeAgain) {
  absl::Status status = absl::ResourceExhaustedError("the queue is full");
  status.SetPayload(kRetryAfterUrl, absl::Cord("1.5s"));
  const json error = json::parse(ConnectError(status, 429).text);
  EXPECT_EQ(error["code"], "resource_exhausted");
  const json& detail = error["details"][0];
  EXPECT_EQ(detail["type"], "google.rpc.RetryInfo");
  EXPECT_EQ(detail["debug"]["retryDelay"], "1.500s");
  std::string bytes;
  ASSERT_TRUE(absl::Base64Unescape(detail["value"].get<std::string>(), &bytes));
  v1::RetryInfo info;
  ASSERT_TRUE(info.ParseFromString(bytes));
  EXPECT_EQ(info.retry_delay().seconds(), 1);
  EXPECT_EQ(info.retry_delay().nanos(), 500000000);
}

TEST(ConnectErrorTest, StatusesAreThoseOfTheProtocol) {
  const std::pair<absl::StatusCode, int> statuses[] = {
      {absl::StatusCode::kCancelled, 499},
      {absl::StatusCode::kUnknown, 500},
      {absl::StatusCode::kInvalidArgument, 400},
      {absl::StatusCode::kDeadlineExceeded, 504},
      {absl::StatusCode::kNotFound, 404},
      {absl::StatusCode::kPermissionDenied, 403},
      {absl::StatusCode::kResourceExhausted, 429},
      {absl::StatusCode::kFailedPrecondition, 400},
      {absl::StatusCode::kUnimplemented, 501},
      {absl::StatusCode::kInternal, 500},
      {absl::StatusCode::kUnavailable, 503},
      {absl::StatusCode::kUnauthenticated, 401},
  };
  for (const auto& [code, http_status] : statuses) {
    EXPECT_EQ(ConnectHttpStatus(absl::Status(code, "")), http_status) << code;
  }
  EXPECT_THAT(ConnectError(absl::CancelledError(""), 499).text,
              HasSubstr("\"canceled\""));
}

}  // namespace
}  // namespace attend
