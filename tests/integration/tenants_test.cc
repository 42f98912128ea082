// Keys, limits and the file of tenants, with the real server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "attend/v1/status_details.pb.h"
#include "tests/integration/raw_call.h"
#include "tests/integration/requests.h"
#include "tests/integration/server_process.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// printf %s KEY | sha256sum, of these keys:
constexpr char kOpenKey[] = "open-key";
constexpr char kOpenHash[] =
    "e4e46029e26599698562b54124889cca4f3d7da5925b92f8e81a1125c9aa795d";
constexpr char kNarrowKey[] = "narrow-key";
constexpr char kNarrowHash[] =
    "cc6a3ad1d53969fb5d3a189f595a99cd34e965a52377c1563174af3f0047448a";
constexpr char kSlowKey[] = "slow-key";
constexpr char kSlowHash[] =
    "6fa0d18ad9d40c2e55ddba9c9110a429590843f1c7096d894e1f3aa68c420cee";
constexpr char kNewKey[] = "new-key";
constexpr char kNewHash[] =
    "479a61d5370a0351ad498a8f324e0f9ad50bfafbe4c044ea49cbe3981e8cb573";

std::string Entry(const std::string& name, const std::string& hash,
                  const std::string& more = "") {
  return absl::StrCat(R"({"name": ")", name, R"(", "keys": [")", hash, "\"]",
                      more, "}");
}

class TenantsTest : public ::testing::Test {
 protected:
  ~TenantsTest() override { std::remove(path_.c_str()); }

  void Write(const std::string& entries) {
    std::ofstream(path_ + ".new")
        << absl::StrCat(R"({"tenants": [)", entries, "]}");
    std::rename((path_ + ".new").c_str(), path_.c_str());
  }
  static ClientOptions With(const ServerProcess& server,
                            const std::string& key) {
    ClientOptions options = server.client_options();
    options.metadata = {{"authorization", "Bearer " + key}};
    return options;
  }
  static absl::Status Generate(const ServerProcess& server,
                               const std::string& key) {
    return Client(With(server, key)).Generate(Greedy({"Hello."})).status();
  }

  const std::string path_ =
      absl::StrCat(::testing::TempDir(), "attend_tenants_", getpid(), ".json");
};

TEST_F(TenantsTest, FindNoPrefixesOfOthers) {
  Write(absl::StrCat(Entry("open", kOpenHash), ",", Entry("new", kNewHash)));
  ServerProcess server({"--tenants=" + path_});
  // The tokens that a call finds of a source that is always the same.
  const auto hits = [&](const std::string& key, const std::string& salt) {
    constexpr char kHits[] =
        "attend_prefix_cache_hit_tokens_total{model=\"en-de\"}";
    const double before = server.Metric(kHits);
    v1::GenerateRequest request = Greedy({Sentence(1)});
    request.mutable_params()->set_cache_salt(salt);
    EXPECT_TRUE(Client(With(server, key)).Generate(request).ok());
    // A step is counted after its results have been sent.
    EXPECT_TRUE(Eventually([&] {
      return server.Metric("attend_running_sequences{model=\"en-de\"}") == 0;
    }));
    return server.Metric(kHits) - before;
  };
  EXPECT_EQ(hits(kOpenKey, ""), 0);
  EXPECT_GT(hits(kOpenKey, ""), 0);
  EXPECT_EQ(hits(kNewKey, ""), 0);
  EXPECT_GT(hits(kNewKey, ""), 0);
  // Requests that name a salt share with all that name it.
  EXPECT_EQ(hits(kOpenKey, "ours"), 0);
  EXPECT_GT(hits(kNewKey, "ours"), 0);
  EXPECT_EQ(hits(kNewKey, "others"), 0);
}

TEST_F(TenantsTest, CallsNeedAKeyAndKeepToItsLimits) {
  Write(absl::StrCat(
      Entry("open", kOpenHash), ",",
      Entry("narrow", kNarrowHash, R"(, "models": ["other"])"), ",",
      Entry("slow", kSlowHash, R"(, "calls_per_second": 0.01)")));
  ServerProcess server({"--tenants=" + path_});
  EXPECT_TRUE(Generate(server, kOpenKey).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(Generate(server, "other-key")));
  Client nobody(server.client_options());
  EXPECT_TRUE(
      absl::IsUnauthenticated(nobody.Generate(Greedy({"Hello."})).status()));

  const std::string command = absl::StrCat(
      ATTEND_CLI, " translate Hello. --address ", server.address());
  EXPECT_EQ(
      RunShell(absl::StrCat("ATTEND_TOKEN=", kOpenKey, " ", command)).exit_code,
      0);
  EXPECT_NE(RunShell(command).exit_code, 0);

  EXPECT_TRUE(absl::IsNotFound(Generate(server, kNarrowKey)));
  Client narrow(With(server, kNarrowKey));
  const auto models = narrow.ListModels();
  ASSERT_TRUE(models.ok()) << models.status();
  EXPECT_EQ(models->models_size(), 0);

  EXPECT_TRUE(Generate(server, kSlowKey).ok());
  grpc::ClientContext context;
  context.AddMetadata("authorization", absl::StrCat("Bearer ", kSlowKey));
  const RawReply refused =
      CallUnary(*RawChannel(server.address()), "/attend.v1.Attend/Generate",
                Greedy({"Hello."}).SerializeAsString(), std::move(context));
  EXPECT_EQ(refused.status.error_code(), grpc::RESOURCE_EXHAUSTED);
  v1::StatusDetails details;
  v1::RetryInfo info;
  ASSERT_TRUE(details.ParseFromString(refused.status.error_details()));
  ASSERT_EQ(details.details_size(), 1);
  ASSERT_TRUE(info.ParseFromString(details.details(0).value()));
  // One call in 100 s, less what has passed since the one before.
  EXPECT_GT(info.retry_delay().seconds(), 10);
  EXPECT_LE(info.retry_delay().seconds(), 100);
  EXPECT_EQ(refused.trailers.count("grpc-retry-pushback-ms"), 1);

  // Probes need no key.
  EXPECT_EQ(server.Get("/readyz").code, 200);
  EXPECT_EQ(server.Metric(
                "attend_tenant_requests_total{code=\"OK\",tenant=\"open\"}"),
            2);
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_THAT(server.process().output(), Not(HasSubstr("-key")));
}

TEST_F(TenantsTest, AreReadAgain) {
  Write(Entry("open", kOpenHash) + "," + Entry("slow", kSlowHash));
  ServerProcess server(
      {"--tenants=" + path_, absl::StrCat("--metrics-key-sha256=", kNewHash)});
  EXPECT_EQ(server.Get("/metrics").code, 401);
  EXPECT_EQ(server.Get("/livez").code, 200);
  EXPECT_TRUE(Generate(server, kOpenKey).ok());
  Write(Entry("new", kNewHash));
  server.process().Signal(SIGHUP);
  ASSERT_TRUE(server.process().WaitForOutput("read_again=tenants"));
  ASSERT_TRUE(server.process().WaitForOutput("tenants=1"));
  EXPECT_TRUE(Eventually([&] { return Generate(server, kNewKey).ok(); }));
  EXPECT_TRUE(absl::IsUnauthenticated(Generate(server, kOpenKey)));
  // Without a signal; one that is broken.
  Write(Entry("not plain", kOpenHash));
  ASSERT_TRUE(server.process().WaitForOutput("event=tenants_failed"));
  ASSERT_TRUE(server.process().WaitForOutput("not plain"));
  EXPECT_TRUE(Generate(server, kNewKey).ok());
  EXPECT_EQ(server.Stop(), 0);
}

TEST_F(TenantsTest, HealthMayNeedAKeyOfItsOwnOrOfATenant) {
  Write(Entry("open", kOpenHash));
  ServerProcess server(
      {"--tenants=" + path_, absl::StrCat("--health-key-sha256=", kNewHash)});
  EXPECT_EQ(server.Get("/livez").code, 401);
  EXPECT_EQ(server.Get("/readyz").code, 401);
  EXPECT_EQ(server.Get("/metrics").code, 200);
  const std::string check =
      ATTEND_SERVER " --health-check --http-port=" + server.http_port();
  const auto channel = RawChannel(server.address());
  const auto health = [&](const std::string& key) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + key);
    return CallUnary(*channel, "/grpc.health.v1.Health/Check", "",
                     std::move(context))
        .status.error_code();
  };
  for (const char* key : {kNewKey, kOpenKey}) {
    EXPECT_EQ(
        RunShell(absl::StrCat("ATTEND_TOKEN=", key, " ", check)).exit_code, 0);
    EXPECT_EQ(health(key), grpc::StatusCode::OK);
  }
  EXPECT_EQ(RunShell(check).exit_code, 1);
  EXPECT_EQ(RunShell("ATTEND_TOKEN=other " + check).exit_code, 1);
  EXPECT_EQ(health("other"), grpc::StatusCode::UNAUTHENTICATED);
  // Clients watch without a key, and call all the same.
  std::string answer;
  RawStream watch(*channel, "/grpc.health.v1.Health/Watch", "");
  EXPECT_FALSE(watch.Read(answer));
  EXPECT_EQ(watch.Finish().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  // The key of health opens nothing else.
  EXPECT_TRUE(absl::IsUnauthenticated(Generate(server, kNewKey)));
  EXPECT_TRUE(Generate(server, kOpenKey).ok());
}

TEST_F(TenantsTest, AFileThatCannotBeUsedEndsTheStart) {
  Write(Entry("a", kOpenHash, R"(, "weight": 0)"));
  Process server({ATTEND_SERVER, "--host=127.0.0.1", "--port=0",
                  "--http-port=0", "--model=" + BundledModel(),
                  "--tenants=" + path_});
  EXPECT_EQ(server.Wait(), 1);
  EXPECT_THAT(server.output(), HasSubstr("weight is 0"));
}

}  // namespace
}  // namespace attend
