// The access log of a server, as logrotate and its readers see it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cpp/lib/client.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// Throws if a line is no JSON.
std::vector<Json> Lines(const fs::path& path) {
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(Json::parse(line));
  }
  return lines;
}

TEST(AccessLogTest, AFileHasTheCallsAndIsOpenedAnewOnSighup) {
  const fs::path directory = fs::path(::testing::TempDir()) /
                             ("access_log_" + std::to_string(getpid()));
  fs::create_directories(directory);
  const fs::path path = directory / "access.log";
  ServerProcess server({"--access-log=json", "--access-log-sample=0.5",
                        "--access-log-file=" + path.string()});
  Client client(server.client_options());
  for (const char* attempts : {"2", "2", "-1", "-1"}) {
    const CallOptions call = {
        .metadata = {{"grpc-previous-rpc-attempts", attempts}}};
    ASSERT_TRUE(client.Generate(Greedy({"Hello."}), call).ok());
  }
  ASSERT_TRUE(Eventually([&] { return Lines(path).size() == 2; }));
  const Json line = Lines(path)[0];
  EXPECT_EQ(line["event"], "call");
  EXPECT_EQ(line["method"], "Generate");
  EXPECT_EQ(line["model"], kModelName);
  EXPECT_EQ(line["model_version"], 1);
  EXPECT_EQ(line["code"], "OK");
  EXPECT_THAT(line["peer"].get<std::string>(), HasSubstr("127.0.0.1"));
  EXPECT_GT(line["generated_tokens"], 1);
  EXPECT_GT(line["first_token_seconds"], 0);
  EXPECT_LT(line["queue_seconds"], line["first_token_seconds"]);
  EXPECT_LT(line["first_token_seconds"], line["seconds"]);
  EXPECT_FALSE(line.contains("http_status"));
  EXPECT_EQ(line["attempts_before"], 2);
  EXPECT_FALSE(Lines(path)[1].contains("attempts_before"));

  fs::rename(path, directory / "access.log.1");
  server.process().Signal(SIGHUP);
  ASSERT_TRUE(Eventually([&] { return fs::exists(path); }));
  EXPECT_TRUE(server.process().WaitForOutput(
      "event=reload signal=SIGHUP read_again=access_log"));
  // Not found: it failed, so it has a line.
  EXPECT_EQ(server.Get("/v1/models/nobody").code, 404);
  ASSERT_TRUE(Eventually([&] { return Lines(path).size() == 1; }));
  EXPECT_EQ(Lines(path)[0]["http_status"], 404);
  EXPECT_EQ(Lines(directory / "access.log.1").size(), 2);
  EXPECT_THAT(server.process().output(), Not(HasSubstr("event=call")));
  EXPECT_EQ(server.Stop(), 0) << server.process().output();
  fs::remove_all(directory);
}

}  // namespace
}  // namespace attend
