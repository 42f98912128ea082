// Models that are loaded, replaced and unloaded while the server runs.

#include "tests/integration/model_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "attend/v1/attend.grpc.pb.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"
#include "tests/support/sanitized.h"

namespace attend {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kReloads = kSanitized ? 3 : 5;

TEST_F(ModelControlTest, AVersionTakesTheOtherOnesPlace) {
  ServerProcess server(Flags());
  Client client(server.client_options());
  Admin admin(server);
  const std::string first = Bits(*client.Generate(RequestOf("m", 8)));
  EXPECT_EQ(client.ListModels()->models(0).version(), 1);
  Link("gelu", "m/2");
  ASSERT_TRUE(admin.Load("m").ok());
  EXPECT_EQ(admin.loaded().version(), 2);
  EXPECT_EQ(client.ListModels()->models(0).version(), 2);
  EXPECT_NE(Bits(*client.Generate(RequestOf("m", 8))), first);
  EXPECT_EQ(server.Metric("attend_model_info{dtype=\"f32\",family=\"marian\","
                          "model=\"m\",version=\"2\"}"),
            1);
  // Back, with the same bits.
  ASSERT_TRUE(admin.Load("m", 1).ok());
  EXPECT_EQ(Bits(*client.Generate(RequestOf("m", 8))), first);

  // One that fails changes nothing, and says why.
  Link("flax-only", "m/3");
  const grpc::Status failed = admin.Load("m");
  EXPECT_EQ(failed.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(failed.error_message(),
              HasSubstr("model 'm' version 3 could not be loaded: "));
  EXPECT_THAT(failed.error_message(), HasSubstr("flax_model.msgpack"));
  EXPECT_THAT(failed.error_message(),
              HasSubstr("; version 1 is served as before"));
  EXPECT_THAT(failed.error_message(), Not(HasSubstr(directory_.string())));
  EXPECT_EQ(Bits(*client.Generate(RequestOf("m", 8))), first);
  EXPECT_EQ(
      server.Metric("attend_model_loads_total{model=\"m\",outcome=\"failed\"}"),
      1);
  EXPECT_EQ(
      server.Metric("attend_model_loads_total{model=\"m\",outcome=\"ok\"}"), 3);
  EXPECT_EQ(admin.Load("m", 9).error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(admin.Load("none").error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_THAT(server.process().output(),
              HasSubstr("event=model_failed model=m error="));
}

TEST_F(ModelControlTest, WhatDoesNotFitIsRefusedWithFigures) {
  ServerProcess server(Flags());
  const pid_t pid = server.process().pid();
  rlimit free = {};
  ASSERT_EQ(prlimit(pid, RLIMIT_AS, nullptr, &free), 0);
  rlimit tight = free;
  tight.rlim_cur =
      static_cast<rlim_t>(server.Metric("process_virtual_memory_bytes")) +
      (100 << 20);
  ASSERT_EQ(prlimit(pid, RLIMIT_AS, &tight, nullptr), 0);
  const grpc::Status failed = Admin(server).Load("m");
  ASSERT_EQ(prlimit(pid, RLIMIT_AS, &free, nullptr), 0);
  EXPECT_EQ(failed.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(failed.error_message(), HasSubstr("MiB more of address space"));
  EXPECT_THAT(failed.error_message(),
              HasSubstr("; version 1 is served as before"));
  Client client(server.client_options());
  EXPECT_TRUE(client.Generate(RequestOf("m", 4)).ok());
  EXPECT_TRUE(Admin(server).Load("m").ok());
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(ModelControlTest, UnloadedWhileStreamsRun) {
  fs::create_directory_symlink(BundledModel(), directory_ / "m/2");
  ServerProcess server(Flags());
  Admin admin(server);
  const auto channel = RawChannel(server.address());
  v1::GenerateRequest request = RequestOf("m", 400);
  const std::string whole =
      Bits(*Client(server.client_options()).Generate(request));
  std::vector<std::unique_ptr<RawStream>> streams;
  std::string chunk;
  for (int i = 0; i < 4; ++i) {
    streams.push_back(std::make_unique<RawStream>(
        *channel, "/attend.v1.Attend/GenerateStream",
        request.SerializeAsString()));
    ASSERT_TRUE(streams.back()->Read(chunk));
  }
  ASSERT_TRUE(admin.Unload("m").ok());
  Client client(server.client_options());
  const absl::Status refused = client.Generate(request).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kNotFound) << refused;
  EXPECT_EQ(client.ListModels()->models_size(), 1);
  EXPECT_EQ(admin.Unload("m").error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(server.Get("/readyz").code, 200);
  for (const auto& stream : streams) {
    int ids = 0;
    do {
      v1::GenerateChunk part;
      ASSERT_TRUE(part.ParseFromString(chunk));
      ids += part.ids_size();
    } while (stream->Read(chunk));
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_GT(ids, 0);
  }
  EXPECT_TRUE(Eventually([&] {
    return server.Metrics().count("attend_running_sequences{model=\"m\"}") == 0;
  }));
  ASSERT_TRUE(admin.Load("m").ok());
  EXPECT_EQ(Bits(*client.Generate(request)), whole);
  // Nothing is served: not ready. And back.
  ASSERT_TRUE(admin.Unload("m").ok());
  ASSERT_TRUE(admin.Unload("other").ok());
  EXPECT_EQ(server.Get("/readyz").code, 503);
  ASSERT_TRUE(admin.Load("other").ok());
  EXPECT_EQ(server.Get("/readyz").code, 200);
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(ModelControlTest, NoCallFailsAndMemoryStaysUnderReloads) {
  // Large enough that a few too many would be noticed.
  fs::create_directory_symlink(ATTEND_SOURCE_DIR "/models/en-de",
                               directory_ / "large");
  ServerProcess server(Flags());
  const std::string expected =
      Bits(*Client(server.client_options()).Generate(RequestOf("m", 16)));
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0, failed = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t) {
    clients.emplace_back([&] {
      Client client(server.client_options());
      while (!stop) {
        const auto response = client.Generate(RequestOf("m", 16));
        failed += !response.ok() || Bits(*response) != expected;
        ++calls;
      }
    });
  }
  Admin admin(server);
  const auto resident = [&] {
    return server.Metric("process_resident_memory_bytes");
  };
  ASSERT_TRUE(admin.Load("m").ok());
  ASSERT_TRUE(admin.Load("large").ok());
  const double before = resident();
  for (int i = 0; i < kReloads; ++i) {
    const int seen = calls;
    EXPECT_TRUE(Eventually([&] { return calls > seen + 3; }));
    ASSERT_TRUE(admin.Load("m").ok());
    ASSERT_TRUE(admin.Load("large").ok());
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(calls, kReloads);
  if (!kSanitized) {  // a sanitizer keeps freed memory
    EXPECT_TRUE(Eventually([&] { return resident() < before + (64 << 20); }))
        << before << " " << resident();
  }
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(ModelControlTest, ChangesFromEverywhereEndWell) {
  ServerProcess server(Flags());
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int t = 0; t < 2; ++t) {
    callers.emplace_back([&] {
      Client client(server.client_options());
      while (!stop) {
        const auto response = client.Generate(RequestOf("m", 8));
        wrong += !response.ok() && !absl::IsNotFound(response.status());
        wrong += !client.ListModels().ok();
      }
    });
  }
  std::vector<std::thread> changers;
  for (int t = 0; t < 3; ++t) {
    changers.emplace_back([&, t] {
      Admin admin(server);
      for (int i = 0; i < kReloads; ++i) {
        if (t == 0) {
          const grpc::Status status = admin.Unload("m");
          wrong += !status.ok() && status.error_code() != grpc::NOT_FOUND;
        } else {
          wrong += !admin.Load("m").ok();
        }
      }
    });
  }
  for (std::thread& changer : changers) changer.join();
  ASSERT_TRUE(Admin(server).Load("m").ok());
  stop = true;
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(ModelControlTest, TheCommandLineChangesModels) {
  Link("gelu", "m/2");
  ServerProcess server(Flags());
  const auto attend = [&](const std::string& arguments) {
    return RunShell(absl::StrCat("export ATTEND_ADDRESS=", server.address(),
                                 "; " ATTEND_CLI " ", arguments));
  };
  EXPECT_EQ(attend("load m 1").out, "m version 1\n");
  EXPECT_EQ(attend("load m@2").out, "m@2 version 2\n");
  EXPECT_EQ(attend("alias m m:95 m@2:5").exit_code, 0);
  EXPECT_EQ(attend("alias other-name m").exit_code, 0);
  const std::string models = attend("models").out;
  EXPECT_THAT(models, ContainsRegex("\nm@2  +2  +marian "));
  EXPECT_THAT(models, ContainsRegex("\nm  +is an alias of m:95, m@2:5\n"));
  EXPECT_THAT(models, ContainsRegex("\nother-name  +is an alias of m:1\n"));
  EXPECT_EQ(attend("alias m").exit_code, 0);
  EXPECT_EQ(attend("unload m@2").exit_code, 0);
  const Outcome gone = attend("unload m@2");
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_EQ(gone.err, "attend: NOT_FOUND: model 'm@2' is not served\n");
  EXPECT_EQ(attend("load m 3").exit_code, 1);
  EXPECT_EQ(attend("load m -1").exit_code, 2);
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(ModelControlTest, IsRefusedToOthersThanAdministrators) {
  // printf %s KEY | sha256sum, of open-key and new-key
  const std::string path = (directory_ / "tenants.json").string();
  std::ofstream(path)
      << R"({"tenants": [{"name": "user", "keys": [)"
      << R"("e4e46029e26599698562b54124889cca4f3d7da5925b92f8e81a1125c9aa795d"]},)"
      << R"({"name": "operator", "administrator": true, "keys": [)"
      << R"("479a61d5370a0351ad498a8f324e0f9ad50bfafbe4c044ea49cbe3981e8cb573"]}]})";
  {
    ServerProcess server(Flags("--tenants=" + path));
    const grpc::Status refused = Admin(server, "open-key").Load("m");
    EXPECT_EQ(refused.error_code(), grpc::PERMISSION_DENIED);
    EXPECT_EQ(Admin(server).Load("m").error_code(), grpc::UNAUTHENTICATED);
    EXPECT_TRUE(Admin(server, "new-key").Load("m").ok());
    EXPECT_EQ(server.Stop(), 0);
  }
  ServerProcess server({"--models-dir=" + directory_.string()});
  EXPECT_EQ(Admin(server).Load("m").error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace attend
