#include "server/web/web_routes.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/http/http_server.h"
#include "server/web/embedded_files.h"
#include "tests/support/raw_http.h"

namespace attend {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string FileInTree(absl::string_view name) {
  std::ifstream file(absl::StrCat(ATTEND_SOURCE_DIR, "/", name));
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

class WebRoutesTest : public ::testing::Test {
 protected:
  WebRoutesTest() {
    HttpOptions options;
    options.host = "127.0.0.1";
    options.port = 0;
    HttpRouter router;
    AddPageRoutes(router);
    AddProtoRoutes(router);
    server_ = *HttpServer::Start(options, std::move(router));
  }
  std::string Get(absl::string_view path, absl::string_view headers = "",
                  absl::string_view method = "GET") {
    RawHttp client;
    EXPECT_TRUE(client.Connect(server_->port()));
    EXPECT_TRUE(client.Send(HttpRequestText(
        method, path, absl::StrCat("Connection: close\r\n", headers))));
    return client.ReadToEnd();
  }

  std::unique_ptr<HttpServer> server_;
};

TEST_F(WebRoutesTest, ServesTheFilesOfTheTree) {
  EXPECT_GT(PageFiles().size(), 10u);
  for (const EmbeddedFile& file : PageFiles()) {
    const std::string text =
        FileInTree(absl::StrCat("server/web/page/", file.name));
    EXPECT_EQ(file.text, text) << file.name;
    const std::string answer = Get(
        file.name == "index.html" ? "/" : absl::StrCat("/page/", file.name));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 ")) << file.name;
    EXPECT_THAT(answer, ::testing::EndsWith(text)) << file.name;
  }
  EXPECT_THAT(Get("/attend/v1/attend.proto"),
              AllOf(HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"),
                    HasSubstr("service Attend {")));
}

TEST_F(WebRoutesTest, ThePageMayLoadAndCallNothingElse) {
  for (const char* path : {"/", "/page/main.js", "/page/page.css"}) {
    EXPECT_THAT(
        Get(path),
        AllOf(HasSubstr("Content-Security-Policy: default-src 'none'; "),
              HasSubstr("require-trusted-types-for 'script'"),
              HasSubstr("X-Content-Type-Options: nosniff\r\n"),
              HasSubstr("X-Frame-Options: DENY\r\n")))
        << path;
  }
  EXPECT_THAT(Get("/page/main.js"), HasSubstr("text/javascript"));
  EXPECT_THAT(Get("/page/icon.svg"), HasSubstr("image/svg+xml"));
}

TEST_F(WebRoutesTest, AFileThatAClientHasIsNotSentAgain) {
  const std::string answer = Get("/page/page.css");
  std::smatch tag;
  ASSERT_TRUE(std::regex_search(answer, tag, std::regex("ETag: (\".*\")")));
  const std::string again = Get(
      "/page/page.css", absl::StrCat("If-None-Match: ", tag.str(1), "\r\n"));
  EXPECT_THAT(again, AllOf(StartsWith("HTTP/1.1 304 "),
                           HasSubstr(absl::StrCat("ETag: ", tag.str(1))),
                           Not(HasSubstr("Content-Length"))));
  EXPECT_EQ(again.substr(again.find("\r\n\r\n")), "\r\n\r\n");
  EXPECT_THAT(Get("/page/page.css", "If-None-Match: \"other\"\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Get("/", "", "HEAD"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Get("/", "", "POST"), StartsWith("HTTP/1.1 405 "));
}

// Texts of models and servers must not become markup, nor styles.
TEST(PageTest, SetsNoMarkupAndNamesNoOtherHost) {
  const std::regex markup(
      "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|\\beval\\(|"
      "new Function|style=|onclick=|javascript:");
  const std::regex other_host("https?://(?!www\\.w3\\.org/2000/svg)");
  for (const EmbeddedFile& file : PageFiles()) {
    const std::string text(file.text);
    EXPECT_FALSE(std::regex_search(text, markup)) << file.name;
    EXPECT_FALSE(std::regex_search(text, other_host)) << file.name;
  }
}

}  // namespace
}  // namespace attend
