#include "server/http/metrics_page.h"

#include <gmock/gmock.h>

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

// Hands its answer to a function.
class FakeExchange final : public HttpExchange {
 public:
  explicit FakeExchange(std::function<void(HttpResponse)> take)
      : take_(std::move(take)) {}
  void Listen(HttpExchangeListener&) override {}
  void ReadBody() override {}
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
    page.Ask(std::make_shared<FakeExchange>([&, i](HttpResponse response) {
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
    page.Ask(std::make_shared<FakeExchange>([&](HttpResponse given) {
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
    page.Ask(std::make_shared<FakeExchange>([&](const HttpResponse& response) {
      EXPECT_EQ(response.status, status);
      EXPECT_EQ(*response.body == "well", status == 200);
      replied.count_down();
    }));
    replied.wait();
  }
}

}  // namespace
}  // namespace attend
