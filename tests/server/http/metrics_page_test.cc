#include "server/http/metrics_page.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

namespace attend {
namespace {

using ::testing::Not;

// Hands its answer to a function.
class FakeExchange final : public HttpExchange {
 public:
  explicit FakeExchange(std::function<void(HttpResponse)> take)
      : take_(std::move(take)) {}
  void Listen(HttpExchangeListener&) override {}
  void ReadBody(uint64_t) override {}
  void Reply(HttpResponse response) override { take_(std::move(response)); }
  void BeginStream(HttpResponse) override {}
  void Write(std::string) override {}
  void EndStream(std::string) override {}
  void Close() override {}

 private:
  const std::function<void(HttpResponse)> take_;
};

TEST(MetricsPageTest, AllThatAskWhileAPageIsWrittenShareTheNext) {
  std::latch writing(1), go_on(1);
  std::atomic<int> written{0};
  MetricsPage page([&] {
    if (written == 0) {
      writing.count_down();
      go_on.wait();
    }
    return std::to_string(++written);
  });
  std::vector<std::string> bodies(10);
  std::latch replies(bodies.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    page.Ask({}, std::make_shared<FakeExchange>([&, i](HttpResponse response) {
               bodies[i] = *response.body;
               replies.count_down();
             }));
    if (i == 0) writing.wait();
  }
  go_on.count_down();
  replies.wait();
  EXPECT_EQ(bodies[0], "1");
  for (size_t i = 1; i < bodies.size(); ++i) EXPECT_EQ(bodies[i], "2");
}

TEST(MetricsPageTest, UnreadPagesAreBounded) {
  int written = 0;
  MetricsPage page([&] { return std::to_string(++written); });
  const auto ask = [&] {
    HttpResponse response;
    std::latch replied(1);
    page.Ask({}, std::make_shared<FakeExchange>([&](HttpResponse given) {
               response = std::move(given);
               replied.count_down();
             }));
    replied.wait();
    return response.body;
  };
  std::vector<std::shared_ptr<const std::string>> unread;
  std::set<std::string> texts;
  for (size_t i = 0; i < 2 * MetricsPage::kMaxPages; ++i) {
    unread.push_back(ask());
    texts.insert(*unread.back());
  }
  EXPECT_EQ(texts.size(), MetricsPage::kMaxPages);
  // One that is read makes room.
  unread.erase(unread.begin());
  EXPECT_FALSE(texts.contains(*ask()));
}

TEST(MetricsPageTest, WithoutMemoryForAPageTheNextOneIsAsEver) {
  int written = 0;
  MetricsPage page([&] {
    if (++written == 1) throw std::bad_alloc();
    return std::string("well");
  });
  for (const int status : {503, 200}) {
    std::latch replied(1);
    page.Ask({},
             std::make_shared<FakeExchange>([&](const HttpResponse& response) {
               EXPECT_EQ(response.status, status);
               EXPECT_EQ(*response.body == "well", status == 200);
               replied.count_down();
             }));
    replied.wait();
  }
}

MetricsForm Form(absl::string_view accept, absl::string_view encoding = "") {
  HttpRequest request = {.method = "GET", .path = "/metrics"};
  request.headers = {{"Accept", accept}, {"Accept-Encoding", encoding}};
  return AskedForm(request);
}

TEST(MetricsFormTest, IsTheOneThatIsAskedFor) {
  const HttpRequest nothing_said = {.method = "GET", .path = "/metrics"};
  EXPECT_FALSE(AskedForm(nothing_said).open_metrics);
  EXPECT_FALSE(AskedForm(nothing_said).gzip);
  EXPECT_FALSE(Form("*/*").open_metrics);
  EXPECT_FALSE(Form("text/plain;version=0.0.4").open_metrics);
  EXPECT_TRUE(Form("application/openmetrics-text").open_metrics);
  EXPECT_FALSE(Form("application/openmetrics-text;q=0").open_metrics);
  EXPECT_FALSE(Form("application/openmetrics-text;q=x").open_metrics);
  EXPECT_FALSE(
      Form("application/openmetrics-text;q=0.5,text/plain").open_metrics);
  // As Prometheus 3 asks.
  EXPECT_TRUE(Form("application/openmetrics-text;version=1.0.0;escaping=allow-"
                   "utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0."
                   "5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/"
                   "plain;version=0.0.4;q=0.3,*/*;q=0.2")
                  .open_metrics);
  EXPECT_TRUE(Form("", "gzip").gzip);
  EXPECT_TRUE(Form("", "deflate, GZIP;q=0.1").gzip);
  EXPECT_FALSE(Form("", "gzip;q=0, identity").gzip);
  EXPECT_FALSE(Form("", "gzip;Q=0").gzip);
  EXPECT_FALSE(Form("", "br").gzip);
}

HttpResponse Ask(MetricsPage& page, MetricsForm form) {
  HttpResponse response;
  std::latch replied(1);
  page.Ask(form, std::make_shared<FakeExchange>([&](HttpResponse given) {
             response = std::move(given);
             replied.count_down();
           }));
  replied.wait();
  return response;
}

std::string Unpacked(const std::string& packed) {
  std::string text(1 << 20, ' ');
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  std::string in = packed;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(MetricsPageTest, EachFormHasItsPage) {
  std::string plain;
  for (int i = 0; i < 2000; ++i)
    plain += "m{n=\"" + std::to_string(i) + "\"} 1\n";
  MetricsPage page([&] { return plain; }, [&] { return plain + "# EOF\n"; });
  using ::testing::Contains;
  using ::testing::Pair;
  HttpResponse response = Ask(page, {});
  EXPECT_EQ(*response.body, plain);
  EXPECT_THAT(response.headers,
              Contains(Pair("Vary", "Accept, Accept-Encoding")));
  response = Ask(page, {.open_metrics = true});
  EXPECT_EQ(*response.body, plain + "# EOF\n");
  EXPECT_THAT(response.headers,
              Contains(Pair("Content-Type",
                            "application/openmetrics-text; version=1.0.0; "
                            "charset=utf-8")));
  EXPECT_THAT(response.headers,
              Not(Contains(Pair("Content-Encoding", "gzip"))));
  for (const bool open : {false, true}) {
    response = Ask(page, {.open_metrics = open, .gzip = true});
    EXPECT_THAT(response.headers, Contains(Pair("Content-Encoding", "gzip")));
    EXPECT_LT(response.body->size(), plain.size() / 4);
    EXPECT_EQ(Unpacked(*response.body), open ? plain + "# EOF\n" : plain);
  }
  // Who has no other page, gives the plain one.
  MetricsPage old([&] { return plain; });
  response = Ask(old, {.open_metrics = true});
  EXPECT_EQ(*response.body, plain);
  EXPECT_THAT(response.headers,
              Contains(Pair("Content-Type",
                            "text/plain; version=0.0.4; charset=utf-8")));
}

}  // namespace
}  // namespace attend
