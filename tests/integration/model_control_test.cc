// Models that are loaded, replaced and unloaded while the server runs.

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

constexpr int kReloads = kSanitized ? 3 : 10;

// A server of --models-dir with "m" in one version, and a model "other".
class ModelControlTest : public ::testing::Test {
 protected:
  ModelControlTest() {
    std::string name = ::testing::TempDir() + "attend_XXXXXX";
    directory_ = mkdtemp(name.data());
    Link("plain", "m/1");
    Link("relu", "other");
  }
  ~ModelControlTest() override { fs::remove_all(directory_); }

  // A golden model under a name.
  void Link(const std::string& model, const std::string& name) const {
    fs::create_directories((directory_ / name).parent_path());
    fs::create_directory_symlink(
        absl::StrCat(ATTEND_SOURCE_DIR "/tests/golden/marian/", model),
        directory_ / name);
  }
  std::vector<std::string> Flags(const std::string& more = "") const {
    std::vector<std::string> flags = {"--models-dir=" + directory_.string(),
                                      "--model-control=explicit"};
    if (!more.empty()) flags.push_back(more);
    return flags;
  }

  static v1::GenerateRequest RequestOf(const std::string& model, int tokens) {
    v1::GenerateRequest request = Exactly({"a small dog"}, tokens);
    request.set_model(model);
    return request;
  }

  fs::path directory_;
};

// Calls of attend.v1.Admin.
class Admin {
 public:
  explicit Admin(const ServerProcess& server, std::string key = "")
      : stub_(v1::Admin::NewStub(RawChannel(server.address()))),
        key_(std::move(key)) {}

  grpc::Status Load(const std::string& name, int64_t version = 0) {
    v1::LoadModelRequest request;
    request.set_name(name);
    request.set_version(version);
    grpc::ClientContext context;
    AddKey(context);
    return stub_->LoadModel(&context, request, &loaded_);
  }
  // Of the last Load().
  const v1::Model& loaded() const { return loaded_.model(); }
  grpc::Status Unload(const std::string& name) {
    v1::UnloadModelRequest request;
    request.set_name(name);
    grpc::ClientContext context;
    AddKey(context);
    v1::UnloadModelResponse response;
    return stub_->UnloadModel(&context, request, &response);
  }
  grpc::Status SetAlias(
      const std::string& name,
      const std::vector<std::pair<std::string, int>>& targets) {
    v1::SetAliasRequest request;
    request.set_name(name);
    for (const auto& [model, weight] : targets) {
      v1::AliasTarget& target = *request.add_targets();
      target.set_model(model);
      target.set_weight(weight);
    }
    grpc::ClientContext context;
    AddKey(context);
    v1::SetAliasResponse response;
    return stub_->SetAlias(&context, request, &response);
  }

 private:
  void AddKey(grpc::ClientContext& context) const {
    if (!key_.empty()) context.AddMetadata("authorization", "Bearer " + key_);
  }

  const std::unique_ptr<v1::Admin::Stub> stub_;
  const std::string key_;
  v1::LoadModelResponse loaded_;
};

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
  Link("bin-only", "m/3");
  const grpc::Status failed = admin.Load("m");
  EXPECT_EQ(failed.error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_THAT(failed.error_message(),
              HasSubstr("model 'm' version 3 could not be loaded: "));
  EXPECT_THAT(failed.error_message(), HasSubstr("pytorch_model.bin"));
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
  const double before = resident();
  for (int i = 0; i < kReloads; ++i) {
    const int seen = calls;
    EXPECT_TRUE(Eventually([&] { return calls > seen + 3; }));
    ASSERT_TRUE(admin.Load("m").ok());
    ASSERT_TRUE(admin.Load("other").ok());
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

TEST_F(ModelControlTest, ACanaryGetsItsShareAndNoCallFails) {
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

TEST_F(ModelControlTest, WhatTheDirectoryHasIsServed) {
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
  EXPECT_TRUE(Eventually([&] { return failed("") == 1; }));
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

TEST_F(ModelControlTest, TheIdleModelThatWasCalledLongestAgoMakesRoom) {
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
