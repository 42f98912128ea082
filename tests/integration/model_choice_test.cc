// Which models there are, and which one a call gets: aliases, polling, room
// made by idle models.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/model_control.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

using ModelChoiceTest = ModelControlTest;

TEST_F(ModelChoiceTest, ACanaryGetsItsShareAndNoCallFails) {
  Link("gelu", "m/2");
  ServerProcess server(Flags("--alias=a=m@1"));
  Client client(server.client_options());
  Admin admin(server);
  const std::string first = Bits(*client.Generate(RequestOf("m@1", 8)));
  const std::string second = Bits(*client.Generate(RequestOf("m", 8)));
  EXPECT_NE(first, second);
  EXPECT_EQ(Bits(*client.Generate(RequestOf("a", 8))), first);
  // Calls of "m" too: "m" itself is version 2, as the highest.
  ASSERT_TRUE(admin.SetAlias("m", {{"m@1", 95}, {"m", 5}}).ok());
  const auto shares = [&](int calls) {
    int canary = 0;
    for (int i = 0; i < calls; ++i) {
      const auto response = client.Generate(RequestOf("m", 1));
      EXPECT_TRUE(response.ok()) << response.status();
      if (response.ok()) canary += response->model() == "m";
    }
    return canary;
  };
  const int canary = shares(1000);
  EXPECT_NEAR(canary, 50, 10);
  EXPECT_EQ(server.Metric("attend_alias_calls_total{alias=\"m\",model=\"m\","
                          "version=\"2\"}"),
            canary);
  EXPECT_EQ(server.Metric("attend_alias_calls_total{alias=\"m\","
                          "model=\"m@1\",version=\"1\"}"),
            1000 - canary);
  EXPECT_EQ(client.ListModels()->aliases_size(), 2);

  // The canary goes, and comes back.
  ASSERT_TRUE(admin.Unload("m").ok());
  EXPECT_EQ(shares(100), 0);
  ASSERT_TRUE(admin.Load("m").ok());
  EXPECT_GT(shares(100), 0);
  EXPECT_EQ(admin.SetAlias("m", {{"m@3", 1}}).error_code(), grpc::NOT_FOUND);
  ASSERT_TRUE(admin.SetAlias("m", {}).ok());
  EXPECT_EQ(Bits(*client.Generate(RequestOf("m", 8))), second);
  ASSERT_TRUE(admin.Unload("m@1").ok());
  const absl::Status gone = client.Generate(RequestOf("a", 8)).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound) << gone;
  ASSERT_TRUE(admin.Load("m@1").ok());
  EXPECT_EQ(Bits(*client.Generate(RequestOf("a", 8))), first);
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(ModelChoiceTest, WhatTheDirectoryHasIsServed) {
  Link("plain", "bad name");
  ServerProcess server({"--models-dir=" + directory_.string(),
                        "--model-control=poll", "--model-poll-interval=50ms"});
  Client client(server.client_options());
  // The version of "m"; 0: it is not served.
  const auto version = [&] {
    const auto model = client.GetModel("m");
    return model.ok() ? model->version() : 0;
  };
  const auto failed = [&](const std::string& model) {
    return server.Metrics()["attend_model_loads_total{model=\"" + model +
                            "\",outcome=\"failed\"}"];
  };
  // A badly named one is reported once, and stops no other.
  EXPECT_EQ(failed(""), 1);
  Link("plain", "m@2");
  EXPECT_TRUE(Eventually([&] { return failed("") == 2; }));
  Link("gelu", "m/2");
  EXPECT_TRUE(Eventually([&] { return version() == 2; }));
  // One that cannot be loaded yet leaves the old one serving.
  fs::create_directories(directory_ / "m/3");
  EXPECT_TRUE(Eventually([&] { return failed("m") == 1; }));
  EXPECT_EQ(version(), 2);
  const fs::path golden = ATTEND_SOURCE_DIR "/tests/golden/marian/relu";
  for (const auto& file : fs::directory_iterator(golden)) {
    fs::create_symlink(file, directory_ / "m/3" / file.path().filename());
  }
  EXPECT_TRUE(Eventually([&] { return version() == 3; }));
  fs::remove_all(directory_ / "m/3");
  EXPECT_TRUE(Eventually([&] { return version() == 2; }));
  // Names come and go, and health with them.
  Link("plain", "new");
  EXPECT_TRUE(Eventually([&] { return client.GetModel("new").ok(); }));
  fs::remove_all(directory_ / "m");
  EXPECT_TRUE(Eventually([&] { return version() == 0; }));
  EXPECT_TRUE(client.Generate(RequestOf("new", 4)).ok());
  // A directory that cannot be read is no empty one.
  const fs::path away = directory_.string() + ".away";
  fs::rename(directory_, away);
  EXPECT_TRUE(Eventually([&] { return failed("") == 3; }));
  fs::rename(away, directory_);
  EXPECT_TRUE(client.Generate(RequestOf("new", 4)).ok());
  EXPECT_EQ(Admin(server).Load("new").error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(server.Stop(), 0);
}

// Lets a server have so many MiB of address space more than it has.
void LimitMemory(ServerProcess& server, double mib) {
  rlimit limit = {};
  ASSERT_EQ(prlimit(server.process().pid(), RLIMIT_AS, nullptr, &limit), 0);
  limit.rlim_cur = static_cast<rlim_t>(
      server.Metric("process_virtual_memory_bytes") + mib * (1 << 20));
  ASSERT_EQ(prlimit(server.process().pid(), RLIMIT_AS, &limit, nullptr), 0);
}

TEST_F(ModelChoiceTest, TheIdleModelThatWasCalledLongestAgoMakesRoom) {
  for (const char* name : {"a", "b", "c"}) Link("plain", name);
  std::string refused;
  {
    ServerProcess server(Flags());
    LimitMemory(server, 100);
    refused = Admin(server).Load("m").error_message();
    EXPECT_EQ(server.Stop(), 0);
  }
  const size_t unit = refused.find(" MiB more of address space");
  ASSERT_NE(unit, std::string::npos) << refused;
  const double needed = std::stod(refused.substr(refused.rfind(' ', unit - 1)));

  ServerProcess server(Flags("--idle-unload"));
  Client client(server.client_options());
  Admin admin(server);
  ASSERT_TRUE(admin.Load("m").ok());
  for (const char* name : {"b", "a", "c", "other"}) {
    EXPECT_TRUE(client.Generate(RequestOf(name, 4)).ok());
  }
  LimitMemory(server, needed - 20);
  const grpc::Status loaded = admin.Load("m");
  EXPECT_TRUE(loaded.ok()) << loaded.error_message();
  LimitMemory(server, 4 * needed);
  EXPECT_EQ(client.Generate(RequestOf("b", 4)).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_TRUE(client.Generate(RequestOf("m", 4)).ok());
  EXPECT_TRUE(admin.Load("b").ok());
  EXPECT_TRUE(client.Generate(RequestOf("b", 4)).ok());
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_THAT(server.process().output(),
              HasSubstr("event=unloaded model=b for=m"));
}

}  // namespace
}  // namespace attend
