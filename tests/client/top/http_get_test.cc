#include "client/cpp/top/http_get.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "server/http/http_server.h"
#include "server/tls/certificates.h"
#include "tests/support/certificate_files.h"

namespace attend {
namespace {

using ::testing::HasSubstr;

class HttpGetTest : public testing::Test {
 protected:
  void SetUp() override {
    HttpRouter router;
    router.Add(
        "GET", "/key",
        [](const HttpRequest& request, std::shared_ptr<HttpExchange> to) {
          to->Reply(request.Header("Authorization") == "Bearer k"
                        ? TextResponse(200, "in")
                        : TextResponse(401, "out"));
        });
    router.Add("GET", "/silent",
               [this](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
                 silent_ = std::move(to);
               });
    auto server =
        HttpServer::Start({.host = "127.0.0.1", .port = 0}, std::move(router));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    url_ = absl::StrCat("http://127.0.0.1:", server_->port());
  }

  std::shared_ptr<HttpExchange> silent_;
  std::unique_ptr<HttpServer> server_;
  std::string url_;
};

TEST_F(HttpGetTest, SendsTheTokenAndGivesTheBody) {
  const auto body = HttpGetBody({.url = url_ + "/key", .token = "k"});
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_EQ(*body, "in");
}

TEST_F(HttpGetTest, ErrorsSayWhatIsWrong) {
  const auto error = [&](const HttpGetOptions& options) {
    return HttpGetBody(options).status();
  };
  EXPECT_EQ(error({.url = url_ + "/key"}).code(),
            absl::StatusCode::kUnauthenticated);
  const absl::Status missing = error({.url = url_ + "/none"});
  EXPECT_EQ(missing.code(), absl::StatusCode::kUnknown);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/none: status 404"));
  for (const std::string url :
       {"localhost:8080", "ftp://a/", "http://", "http://a:x/", ""}) {
    EXPECT_EQ(error({.url = url}).code(), absl::StatusCode::kInvalidArgument)
        << url;
  }
  // The port does not speak TLS.
  EXPECT_EQ(
      error({.url = absl::StrCat("https", url_.substr(4), "/key")}).code(),
      absl::StatusCode::kUnavailable);
  EXPECT_EQ(
      error({.url = absl::StrCat("https", url_.substr(4)), .ca = "/nowhere"})
          .code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(HttpsGetTest, TrustsTheGivenCaAndTheNameInTheCertificateOnly) {
  CertificateFiles files;
  files.MakeCa("ca");
  files.MakeCa("other");
  files.MakeSigned("server", "ca");
  const auto certificates = Certificates::Load(
      {.cert = files.Path("server.crt"), .key = files.Path("server.key")},
      {.on_served = [](const TlsFiles&) {},
       .on_refused = [](const absl::Status&) {}},
      {.interval = absl::Hours(1)});
  ASSERT_TRUE(certificates.ok()) << certificates.status();
  HttpRouter router;
  router.Add("GET", "/",
             [](const HttpRequest&, std::shared_ptr<HttpExchange> to) {
               to->Reply(TextResponse(200, "safe"));
             });
  const auto server =
      HttpServer::Start({.host = "0.0.0.0", .port = 0, .tls = true},
                        std::move(router), certificates->get());
  ASSERT_TRUE(server.ok()) << server.status();
  const auto get = [&](const char* host, const char* ca) {
    return HttpGetBody(
        {.url = absl::StrCat("https://", host, ":", (*server)->port(), "/"),
         .ca = files.Path(ca)});
  };
  const auto body = get("localhost", "ca.crt");
  ASSERT_TRUE(body.ok()) << body.status();
  EXPECT_EQ(*body, "safe");
  EXPECT_EQ(get("localhost", "other.crt").status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_EQ(get("127.0.0.2", "ca.crt").status().code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(HttpGetTest, ASilentServerIsNotWaitedForForEver) {
  EXPECT_EQ(
      HttpGetBody({.url = url_ + "/silent", .timeout = absl::Milliseconds(50)})
          .status()
          .code(),
      absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace attend
