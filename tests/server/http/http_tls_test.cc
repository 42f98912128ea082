// The HTTP port with TLS, asked by curl and by openssl.

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/tls/certificates.h"
#include "tests/server/http/test_server.h"
#include "tests/support/certificate_files.h"
#include "tests/support/raw_http.h"
#include "tests/support/wait_until.h"

namespace attend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr absl::Duration kShort = absl::Milliseconds(50);

class HttpTlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<CertificateFiles>();
    made_->MakeCa("ca");
    made_->MakeCa("other");
    made_->MakeSigned("server", "ca");
    made_->MakeSigned("new", "other");
  }
  static void TearDownTestSuite() { made_.reset(); }

  HttpTlsTest() : files_(*made_) {
    files_.Run("cp server.crt crt; cp server.key key");
    auto loaded = Certificates::Load(
        {.cert = files_.Path("crt"), .key = files_.Path("key")},
        {.on_served = [](const TlsFiles&) {},
         .on_refused = [](const absl::Status&) {}},
        {.interval = absl::Hours(1)});
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    certificates_ = *std::move(loaded);
  }

  void Start(HttpOptions options) {
    options.tls = true;
    server_ =
        StartTestServer(options,
                        {.metrics = [] { return std::string(4 << 20, 'm'); },
                         .live = [] { return true; },
                         .ready = [] { return false; }},
                        certificates_.get());
    ASSERT_NE(server_, nullptr);
  }
  std::string Url(const std::string& path) const {
    return absl::StrCat("https://localhost:", server_->port(), path);
  }
  // Whether a client that trusts this CA gets an answer.
  bool IsReached(const std::string& ca) const {
    return files_.Try(
        absl::StrCat("curl -s --cacert ", ca, ".crt ", Url("/livez")));
  }

  static inline std::unique_ptr<CertificateFiles> made_;
  const CertificateFiles& files_;
  std::unique_ptr<Certificates> certificates_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpTlsTest, AnswersOnOneConnection) {
  Start({});
  files_.Run(
      absl::StrCat("curl -s --cacert ca.crt -w '%{http_code} "
                   "%{size_download} %{num_connects}\\n' -o page ",
                   Url("/metrics"), " -o live ", Url("/livez"), " -o ready ",
                   Url("/readyz"), " >codes"));
  EXPECT_EQ(files_.Text("codes"), "200 4194304 1\n200 3 0\n503 10 0\n");
  EXPECT_EQ(files_.Text("live"), "ok\n");
  EXPECT_EQ(files_.Text("page"), std::string(4 << 20, 'm'));
  EXPECT_FALSE(IsReached("other"));
  // The end of an answer is said inside of TLS.
  files_.Run(absl::StrCat(
      "printf 'GET /livez HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n"
      "\\r\\n' | openssl s_client -quiet -CAfile ca.crt -connect localhost:",
      server_->port(), " >answer"));
  EXPECT_THAT(files_.Text("answer"), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(files_.Text("answer"), HasSubstr("\r\n\r\nok\n"));
}

TEST_F(HttpTlsTest, ANewCertificateIsServedToNewConnections) {
  Start({});
  EXPECT_TRUE(IsReached("ca"));
  files_.Rename("new.crt", "crt");
  files_.Rename("new.key", "key");
  certificates_->LookNow();
  EXPECT_TRUE(WaitUntil([&] { return IsReached("other"); }));
  EXPECT_FALSE(IsReached("ca"));
}

TEST_F(HttpTlsTest, AHandshakeHasToEndInTime) {
  Start({.head_timeout = kShort});
  for (const std::string& sent :
       {std::string(), std::string("\x16\x03\x01\x02\x00", 5),
        HttpRequestText("GET", "/livez")}) {
    RawHttp client;
    ASSERT_TRUE(client.Connect(server_->port()));
    ASSERT_TRUE(client.Send(sent));
    EXPECT_THAT(client.ReadToEnd(), Not(HasSubstr("HTTP/1.1"))) << sent;
  }
  // A head after it, too; and its answer arrives.
  files_.Try(absl::StrCat(
      "printf 'GET /livez HTTP/1.1\\r\\n' | openssl s_client -quiet -CAfile "
      "ca.crt -connect localhost:",
      server_->port(), " >answer"));
  EXPECT_THAT(files_.Text("answer"), StartsWith("HTTP/1.1 408 "));
}

TEST_F(HttpTlsTest, AHandshakeThatDoesNotEndMakesRoom) {
  Start({.max_connections = 1, .head_timeout = absl::Hours(1)});
  RawHttp silent;
  ASSERT_TRUE(silent.Connect(server_->port()));
  EXPECT_TRUE(IsReached("ca"));
  EXPECT_EQ(silent.ReadToEnd(), "");
}

}  // namespace
}  // namespace attend
