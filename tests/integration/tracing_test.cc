// What a call shows of itself under its caller's trace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kTranslate[] = "/attend.v1.Attend/Translate";

std::string Traceparent(absl::string_view trace_id) {
  return absl::StrCat("00-", trace_id, "-b7ad6b7169203331-01");
}

grpc::Status Translate(const ServerProcess& server,
                       const std::string& traceparent) {
  grpc::ClientContext context;
  context.AddMetadata("traceparent", traceparent);
  v1::TranslateRequest request;
  request.add_documents("Hello.");
  request.set_target_language("de");
  return CallUnary(*RawChannel(server.address()), kTranslate,
                   request.SerializeAsString(), std::move(context))
      .status;
}

std::string Tokenize(const ServerProcess& server,
                     const std::string& traceparent) {
  RawHttp client;
  EXPECT_TRUE(client.Connect(std::stoi(server.http_port())));
  const std::string body = R"({"prompt":"Hello."})";
  client.Send(absl::StrCat(
      HttpRequestText("POST", "/tokenize",
                      absl::StrCat("Content-Length: ", body.size(),
                                   "\r\nTraceparent: ", traceparent, "\r\n")),
      body));
  return client.ReadAnswer();
}

TEST(TracingTest, TheLogLineOfACallHasTheIdOfItsTrace) {
  ServerProcess server;
  const std::string by_grpc(32, 'a'), by_http(32, 'b');
  const grpc::Status status = Translate(server, Traceparent(by_grpc));
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_THAT(Tokenize(server, Traceparent(by_http)),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(Translate(server, Traceparent("not-a-trace")).ok());
  EXPECT_EQ(server.Stop(), 0);
  const std::string log = server.process().output();
  EXPECT_THAT(log, HasSubstr(absl::StrCat("trace=", by_grpc)));
  EXPECT_THAT(log, HasSubstr(absl::StrCat("trace=", by_http)));
  EXPECT_THAT(log, Not(HasSubstr("not-a-trace")));
}

}  // namespace
}  // namespace attend
