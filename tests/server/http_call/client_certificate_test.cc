// Clients that show certificates, and those that do not. curl asks.

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/observability/metrics.h"
#include "server/tenants/tenants.h"
#include "server/tls/certificates.h"
#include "tests/server/http_call/http_fixture.h"
#include "tests/server/http_call/say_api.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class ClientCertificateTest : public testing::Test {
 protected:
  ClientCertificateTest() {
    files_.MakeCa("ca");
    files_.MakeCa("other");
    files_.MakeSigned("server", "ca");
    files_.MakeClient("anna", "ca", "");
    files_.MakeClient("bob", "ca", "DNS:bob.example,URI:spiffe://b/ob");
    files_.MakeClient("eve", "other", "");
    auto loaded = Certificates::Load({.cert = files_.Path("server.crt"),
                                      .key = files_.Path("server.key"),
                                      .client_ca = files_.Path("ca.crt")},
                                     {.on_served = [](const TlsFiles&) {},
                                      .on_refused = [](const absl::Status&) {}},
                                     {.interval = absl::Hours(1)});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    certificates_ = *std::move(loaded);
  }

  void Start(HttpFixtureOptions options) {
    options.apis = {SayApi()};
    options.certificates = certificates_.get();
    fixture_.emplace(std::move(options));
  }
  // The status of an answer; 000: there was none. `client`: whose certificate
  // is shown, or "".
  std::string Ask(const std::string& client, const std::string& path,
                  const std::string& more = "") {
    files_.Try(absl::StrCat(
        "curl -s -o answer -w '%{http_code}' --cacert ca.crt ",
        client.empty()
            ? ""
            : absl::StrCat("--cert ", client, ".crt --key ", client, ".key "),
        more, " https://localhost:", fixture_->port(), path, " >code"));
    return files_.Text("code");
  }
  std::string Say(const std::string& client, const std::string& more = "") {
    return Ask(client, "/say",
               absl::StrCat("--json '{\"text\": \"abc\"}' ", more));
  }

  const CertificateFiles files_;
  std::unique_ptr<Certificates> certificates_;
  std::optional<HttpFixture> fixture_;
};

TEST_F(ClientCertificateTest, WhereTheyAreRequiredCallsNeedOne) {
  Start({.needs_certificates = true});
  EXPECT_EQ(Say("anna"), "200");
  EXPECT_EQ(Say(""), "401");
  EXPECT_THAT(files_.Text("answer"), HasSubstr("has no certificate"));
  EXPECT_EQ(Say("eve"), "000");  // no handshake
  // Probes have none.
  EXPECT_EQ(Ask("", "/livez"), "200");
  EXPECT_EQ(Ask("eve", "/livez"), "000");
}

TEST_F(ClientCertificateTest, WhereTheyAreOptionalNobodyNeedsOne) {
  Start({});
  EXPECT_EQ(Say("anna"), "200");
  EXPECT_EQ(Say(""), "200");
  EXPECT_EQ(Say("eve"), "000");
}

TEST_F(ClientCertificateTest, TheirNamesAreTenants) {
  Metrics metrics("test", {});
  Tenants tenants(metrics);
  std::vector<TenantSettings> settings(2);
  settings[0].name = "a";
  settings[0].certificates = {"anna"};
  settings[1].name = "b";
  settings[1].certificates = {"spiffe://b/ob"};
  tenants.Set(std::move(settings), absl::Now());
  Start({.tenants = &tenants});
  EXPECT_EQ(Say("anna"), "200");
  EXPECT_EQ(Say("bob"), "200");
  EXPECT_EQ(Say(""), "401");
  // A key counts before them.
  EXPECT_EQ(Say("anna", "-H 'Authorization: Bearer x'"), "401");
  const std::string page = metrics.Serialize();
  for (const char* name : {"a", "b"}) {
    EXPECT_THAT(page, HasSubstr(absl::StrCat("tenant=\"", name, "\"")));
  }
}

TEST_F(ClientCertificateTest, ASessionThatGoesOnKeepsItsNames) {
  Start({.needs_certificates = true});
  const auto ask = [&](const std::string& session) {
    return files_.Try(absl::StrCat(
        "printf 'POST /say HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n"
        "Content-Type: application/json\\r\\nContent-Length: 15\\r\\n\\r\\n"
        "{\"text\": \"abc\"}' | openssl s_client -ign_eof -CAfile ca.crt "
        "-cert anna.crt -key anna.key -connect localhost:",
        fixture_->port(), " ", session, " >said"));
  };
  EXPECT_TRUE(ask("-tls1_2 -sess_out session"));
  EXPECT_THAT(files_.Text("said"), HasSubstr("HTTP/1.1 200 OK"));
  EXPECT_TRUE(ask("-tls1_2 -sess_in session"));
  EXPECT_THAT(files_.Text("said"), HasSubstr("Reused"));
  EXPECT_THAT(files_.Text("said"), HasSubstr("HTTP/1.1 200 OK"));
}

}  // namespace
}  // namespace attend
