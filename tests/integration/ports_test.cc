// What machines ask: health, reflection and the HTTP port.

#include <gmock/gmock.h>
#include <google/protobuf/wrappers.pb.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

constexpr char kCheck[] = "/grpc.health.v1.Health/Check";
constexpr char kWatch[] = "/grpc.health.v1.Health/Watch";
constexpr int kServing = 1;
constexpr int kNotServing = 2;

// On the wire grpc.health.v1's messages, whose only field is a service's name
// or a status, are these wrappers.
std::string HealthRequest(const std::string& service) {
  google::protobuf::StringValue request;
  request.set_value(service);
  return request.SerializeAsString();
}
int HealthStatus(const std::string& bytes) {
  google::protobuf::Int32Value status;
  EXPECT_TRUE(status.ParseFromString(bytes));
  return status.value();
}

TEST(PortsTest, HealthOfTheServerAndOfItsModel) {
  const auto channel = RawChannel(SharedServer().address());
  for (const char* service : {"", kModelName, "attend.v1.Attend"}) {
    const RawReply reply = CallUnary(*channel, kCheck, HealthRequest(service));
    EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
    EXPECT_EQ(HealthStatus(reply.bytes), kServing) << service;
  }
  EXPECT_EQ(
      CallUnary(*channel, kCheck, HealthRequest("other")).status.error_code(),
      grpc::NOT_FOUND);
}

TEST(PortsTest, WatchersSeeTheServerGo) {
  ServerProcess server;
  const auto channel = RawChannel(server.address());
  RawStream overall(*channel, kWatch, HealthRequest(""));
  RawStream model(*channel, kWatch, HealthRequest(kModelName));
  std::string answer;
  for (RawStream* stream : {&overall, &model}) {
    ASSERT_TRUE(stream->Read(answer));
    EXPECT_EQ(HealthStatus(answer), kServing);
  }
  server.process().Signal(SIGTERM);
  for (RawStream* stream : {&overall, &model}) {
    ASSERT_TRUE(stream->Read(answer));
    EXPECT_EQ(HealthStatus(answer), kNotServing);
  }
  // Watchers that stay do not hold the server.
  EXPECT_EQ(server.process().Wait(), 0) << server.process().output();
}

TEST(PortsTest, ReflectionListsTheServices) {
  const auto channel = RawChannel(SharedServer().address());
  // ServerReflectionRequest { list_services: "" }
  RawStream stream(
      *channel,
      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
      std::string("\x3a\x00", 2));
  std::string answer;
  ASSERT_TRUE(stream.Read(answer));
  EXPECT_THAT(answer, HasSubstr("attend.v1.Attend"));
  EXPECT_THAT(answer, HasSubstr("grpc.health.v1.Health"));
}

TEST(PortsTest, HttpPaths) {
  ServerProcess& server = SharedServer();
  EXPECT_EQ(server.Get("/livez").code, 200);
  EXPECT_EQ(server.Get("/readyz").code, 200);
  EXPECT_EQ(server.Get("/metrics").code, 200);
  EXPECT_EQ(server.Get("/").code, 200);
  EXPECT_EQ(server.Get("/nothing").code, 404);
  EXPECT_EQ(server.Get("/metrics/../etc/passwd").code, 404);
  EXPECT_NE(server.Get("/" + std::string(100000, 'x')).code, 200);
  EXPECT_EQ(server.Get("/livez").code, 200);
}

TEST(PortsTest, HealthCheckOfAServerThatDrains) {
  ServerProcess server({"--drain-delay=1h"});
  const std::string check =
      ATTEND_SERVER " --health-check --http-port=" + server.http_port();
  EXPECT_EQ(RunShell(check).exit_code, 0);
  EXPECT_EQ(RunShell(check + " --http-host=127.0.0.1").exit_code, 0);
  server.process().Signal(SIGTERM);
  ASSERT_TRUE(server.process().WaitForOutput("event=draining"));
  const Outcome draining = RunShell(check);
  EXPECT_EQ(draining.exit_code, 1);
  EXPECT_EQ(draining.err,
            "attend-server: http://localhost:" + server.http_port() +
                "/readyz: status 503, must be 200\n");
}

TEST(PortsTest, PromtoolFindsNothingWrong) {
  ServerProcess& server = SharedServer();
  Client client(server.client_options());
  ASSERT_TRUE(client.Generate(Greedy({"Hello."})).ok());
  ASSERT_EQ(RunShell("command -v promtool").exit_code, 0)
      << "promtool is not installed: deploy/install_dependencies.sh --tests";
  const Outcome outcome =
      RunShell("promtool check metrics", server.Get("/metrics").body);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace attend
