// The gRPC port with TLS: who is let in, and certificates that change.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "server/tenants/tenants.h"
#include "server/tls/certificates.h"
#include "tests/server/grpc/rpc_fixture.h"
#include "tests/server/grpc/sockets.h"
#include "tests/support/certificate_files.h"
#include "tests/support/sanitized.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

// What a client trusts, and what it shows; names of files without their ends.
struct ClientFiles {
  std::string ca = "ca";
  std::string cert = "";
};

class TlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<CertificateFiles>();
    made_->MakeCa("ca");
    made_->MakeCa("other");
    made_->MakeSigned("server", "ca");
    made_->MakeSigned("new", "other");
    made_->MakeSigned("client", "ca");
    made_->MakeSigned("stranger", "other");
    // OpenSSL 3.4 refuses such days, and has dates.
    const bool dates = made_->Try("openssl x509 -help 2>&1 | grep not_after");
    made_->MakeSigned("late", "ca",
                      dates ? "-not_before 20200101000000Z "
                              "-not_after 20200102000000Z"
                            : "-days -1");
    made_->MakeClient("names", "ca",
                      "DNS:a.example,URI:spiffe://a/b,email:a@b.example,"
                      "IP:127.0.0.1");
    made_->MakeClient("nameless", "ca", "");
    made_->Run("cat ca.crt other.crt >both.crt");
  }
  static void TearDownTestSuite() { made_.reset(); }
  TlsTest() : files_(*made_) {
    files_.Run("cp server.crt crt; cp server.key key; cp ca.crt client_ca");
  }

  void Start(std::optional<ClientAuth> client_auth = std::nullopt,
             absl::Duration interval = absl::Hours(1),
             absl::Duration handshake_timeout = absl::Seconds(60)) {
    const TlsOptions options = {
        .cert = files_.Path("crt"),
        .key = files_.Path("key"),
        .client_ca = client_auth.has_value() ? files_.Path("client_ca") : "",
        .client_auth = client_auth};
    auto loaded = Certificates::Load(
        options,
        {.on_served = [](const TlsFiles&) {},
         .on_refused = [this](const absl::Status&) { ++refused_; }},
        {.interval = interval});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    certificates_ = *std::move(loaded);
    RpcFixtureOptions fixture;
    fixture.rpc.handshake_timeout = handshake_timeout;
    fixture.certificates = certificates_.get();
    fixture.tenants = tenants_;
    fixture_.emplace(fixture);
  }

  std::shared_ptr<grpc::Channel> Channel(const ClientFiles& files) {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = files_.Text(files.ca + ".crt");
    if (!files.cert.empty()) {
      options.pem_cert_chain = files_.Text(files.cert + ".crt");
      options.pem_private_key = files_.Text(files.cert + ".key");
    }
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(
        absl::StrCat("127.0.0.1:", fixture_->server->port()),
        grpc::SslCredentials(options), arguments);
  }
  grpc::StatusCode CallOn(const std::shared_ptr<grpc::Channel>& channel,
                          const std::vector<std::string>& authorization = {}) {
    grpc::ClientContext context;
    for (const std::string& value : authorization) {
      context.AddMetadata("authorization", value);
    }
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::minutes(1));
    v1::ListModelsResponse response;
    return v1::Attend::NewStub(channel)
        ->ListModels(&context, {}, &response)
        .error_code();
  }
  grpc::StatusCode Call(const ClientFiles& files) {
    return CallOn(Channel(files));
  }

  static inline std::unique_ptr<CertificateFiles> made_;
  const CertificateFiles& files_;
  const Tenants* tenants_ = nullptr;  // outlive the test
  std::atomic<int> refused_{0};
  std::unique_ptr<Certificates> certificates_;
  std::optional<RpcFixture> fixture_;
};

TEST_F(TlsTest, ClientsTrustOnlyTheCaOfTheServer) {
  Start();
  EXPECT_EQ(Call({}), grpc::OK);
  EXPECT_EQ(Call({.cert = "stranger"}), grpc::OK);  // nobody asks for it
  EXPECT_EQ(Call({.ca = "other"}), grpc::UNAVAILABLE);
  grpc::ClientContext plain;
  v1::ListModelsResponse response;
  EXPECT_EQ(fixture_->stub->ListModels(&plain, {}, &response).error_code(),
            grpc::UNAVAILABLE);
}

TEST_F(TlsTest, ACertificateIsRequired) {
  Start(ClientAuth::kRequire);
  EXPECT_EQ(Call({.cert = "client"}), grpc::OK);
  for (const char* cert : {"", "stranger", "late"}) {
    EXPECT_EQ(Call({.cert = cert}), grpc::UNAVAILABLE) << cert;
  }
}

TEST_F(TlsTest, ACertificateIsOptional) {
  Start(ClientAuth::kOptional);
  for (const char* cert : {"", "client"}) {
    EXPECT_EQ(Call({.cert = cert}), grpc::OK) << cert;
  }
  for (const char* cert : {"stranger", "late"}) {
    EXPECT_EQ(Call({.cert = cert}), grpc::UNAVAILABLE) << cert;
  }
}

// A tenant of the names in certificates, and one of a key.
class TenantsWithCertificates {
 public:
  explicit TenantsWithCertificates(const std::vector<std::string>& names) {
    SetNames(names);
  }
  void SetNames(const std::vector<std::string>& names) {
    TenantSettings named, keyed;
    named.name = "named";
    named.certificates = names;
    keyed.name = "keyed";
    keyed.keys = {HashKey("key")};
    tenants_.Set({named, keyed}, absl::Now());
  }
  const Tenants& tenants() const { return tenants_; }
  // Whose calls have been counted.
  bool Counted(const std::string& name) const {
    return metrics_.Serialize().find(absl::StrCat(
               "attend_tenant_requests_total{code=\"OK\",tenant=\"", name,
               "\"}")) != std::string::npos;
  }

 private:
  Metrics metrics_{"test", {}};
  Tenants tenants_{metrics_};
};

TEST_F(TlsTest, ANameInACertificateIsATenants) {
  TenantsWithCertificates known({"a.example"});
  tenants_ = &known.tenants();
  Start(ClientAuth::kOptional);
  const auto named = Channel({.cert = "names"});
  for (const char* name : {"a.example", "spiffe://a/b", "a@b.example"}) {
    known.SetNames({name});
    EXPECT_EQ(CallOn(named), grpc::OK) << name;
  }
  // The common name counts where there is no other.
  known.SetNames({"names", "127.0.0.1", "nameless"});
  EXPECT_EQ(CallOn(named), grpc::UNAUTHENTICATED);
  EXPECT_EQ(Call({.cert = "nameless"}), grpc::OK);
  EXPECT_EQ(Call({}), grpc::UNAUTHENTICATED);
  fixture_.reset();  // calls are counted when they are gone
  EXPECT_TRUE(known.Counted("named"));
  EXPECT_FALSE(known.Counted("keyed"));
}

TEST_F(TlsTest, AKeyCountsBeforeACertificate) {
  TenantsWithCertificates known({"a.example"});
  tenants_ = &known.tenants();
  Start(ClientAuth::kOptional);
  const auto named = Channel({.cert = "names"});
  EXPECT_EQ(CallOn(named, {"Bearer key"}), grpc::OK);
  EXPECT_EQ(CallOn(Channel({}), {"Bearer key"}), grpc::OK);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"Bearer other"},
        {"Bearer key", "Bearer key"},
        {""}}) {
    EXPECT_EQ(CallOn(named, wrong), grpc::UNAUTHENTICATED) << wrong.front();
  }
  fixture_.reset();
  EXPECT_TRUE(known.Counted("keyed"));
  EXPECT_FALSE(known.Counted("named"));
}

TEST_F(TlsTest, AnotherCaLetsOtherClientsIn) {
  Start(ClientAuth::kRequire, absl::Milliseconds(1));
  files_.Rename("other.crt", "client_ca");
  EXPECT_TRUE(
      WaitUntil([&] { return Call({.cert = "stranger"}) == grpc::OK; }));
  EXPECT_EQ(Call({.cert = "client"}), grpc::UNAVAILABLE);
}

TEST_F(TlsTest, NoCallFailsWhileCertificatesChange) {
  Start(std::nullopt, absl::Milliseconds(1));
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0};
  std::atomic<int> failures{0};
  const auto count = [&](grpc::StatusCode code) {
    ++calls;
    if (code != grpc::OK) ++failures;
  };
  constexpr int kCalls = kSanitized ? 2 : 20;
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {  // a connection for each call
    clients.emplace_back([&] {
      while (!stop) count(Call({.ca = "both"}));
    });
  }
  clients.emplace_back([&, channel = Channel({})] {
    while (!stop) count(CallOn(channel));
  });
  const auto wait_until_served = [&](const std::string& ca) {
    EXPECT_TRUE(WaitUntil([&] { return Call({.ca = ca}) == grpc::OK; })) << ca;
    const int before = calls;
    EXPECT_TRUE(WaitUntil([&] { return calls >= before + kCalls; }));
  };
  wait_until_served("ca");
  // One after the other, and in between they do not belong together.
  files_.Overwrite("new.crt", "crt");
  EXPECT_TRUE(WaitUntil([&] { return refused_ > 0; }));
  wait_until_served("ca");
  files_.Overwrite("new.key", "key");
  wait_until_served("other");
  EXPECT_EQ(Call({.ca = "ca"}), grpc::UNAVAILABLE);
  files_.Rename("server.key", "key");
  files_.Rename("server.crt", "crt");
  wait_until_served("ca");
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failures, 0) << "of " << calls;
}

TEST_F(TlsTest, ConnectionsThatDoNotSayHowTheyTalkEnd) {
  // Longer than the handshake of the call at the end.
  const absl::Duration limit = absl::Milliseconds(kSanitized ? 5000 : 500);
  Start(std::nullopt, absl::Hours(1), limit);
  RpcFixtureOptions options;
  options.rpc.handshake_timeout = limit;
  const RpcFixture plain(options);
  const absl::Time begin = absl::Now();
  std::vector<Descriptor> sockets;
  for (const auto& [port, sent] : std::vector<std::pair<int, std::string>>{
           {fixture_->server->port(), ""},
           // The head of a ClientHello, which does not come.
           {fixture_->server->port(), std::string("\x16\x03\x01\x02\x00", 5)},
           {plain.server->port(), ""},
           {plain.server->port(), "PRI * HTTP/2.0\r\n"}}) {
    sockets.push_back(Connect(port));
    ASSERT_TRUE(SendAll(sockets.back(), sent));
  }
  for (const Descriptor& socket : sockets) {
    while (!IsClosed(socket)) {  // the port with plain text greets
    }
  }
  EXPECT_LT(absl::Now() - begin, absl::Seconds(30));  // gRPC's own limit is 120
  EXPECT_EQ(Call({}), grpc::OK);
}

}  // namespace
}  // namespace attend
