#ifndef ATTEND_SERVER_HTTP_METRICS_PAGE_H_
#define ATTEND_SERVER_HTTP_METRICS_PAGE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/tensor/mutex.h"
#include "server/http/http_exchange.h"

namespace attend {

// Writes the page /metrics on a thread of its own, because a page with many
// series takes milliseconds, and probes must be answered meanwhile. All
// requests that come while a page is written share the next page; so a flood of
// requests costs one page at a time. Thread-safe.
class MetricsPage {
 public:
  // The most pages that clients read at once. When there are as many, requests
  // get the newest of these pages, so that memory stays bounded even if nobody
  // reads.
  static constexpr size_t kMaxPages = 16;

  // `write` returns the text of a page. It is called on the thread of the
  // MetricsPage.
  explicit MetricsPage(std::function<std::string()> write);
  // Requests that wait get no answer.
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Replies with a page that is written after this call; exception: see
  // kMaxPages.
  void Ask(std::shared_ptr<HttpExchange> exchange);

 private:
  using Page = std::shared_ptr<const std::string>;

  void Run();
  Page NewPage();

  const std::function<std::string()> write_;
  std::vector<std::weak_ptr<const std::string>> pages_;  // the writer's only

  Mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<HttpExchange>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread writer_;  // last: it uses all of the above
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_METRICS_PAGE_H_
