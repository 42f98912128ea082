#ifndef ATTEND_SERVER_HTTP_METRICS_PAGE_H_
#define ATTEND_SERVER_HTTP_METRICS_PAGE_H_

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/tensor/mutex.h"
#include "server/http/http_exchange.h"
#include "server/http/metrics_form.h"

namespace attend {

// Writes the page /metrics on a thread of its own, because a page with many
// series takes milliseconds, and probes must be answered meanwhile. All
// requests of one form that come while a page is written share the next page;
// so a flood of requests costs a page of each form at a time. Thread-safe.
class MetricsPage {
 public:
  // The most pages of one form that clients read at once. When there are as
  // many, requests get the newest of these pages, so that memory stays bounded
  // even if nobody reads.
  static constexpr size_t kMaxPages = 4;

  // Returns the text of a page. Called on the thread of the MetricsPage.
  using Write = std::function<std::string()>;

  // `open_metrics` writes pages of OpenMetrics; null: there are none, and who
  // asks for them gets the other.
  explicit MetricsPage(Write write, Write open_metrics = nullptr);
  // Requests that wait get no answer.
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Replies with a page that is written after this call; exception: see
  // kMaxPages.
  void Ask(MetricsForm form, std::shared_ptr<HttpExchange> exchange);

 private:
  using Page = std::shared_ptr<const std::string>;
  using Exchanges = std::vector<std::shared_ptr<HttpExchange>>;

  void Run();
  // Writes a page and replies with it.
  void Answer(size_t form, const Exchanges& exchanges);
  Page NewPage(size_t form);

  const Write write_;
  const Write open_metrics_;
  // By the number of their form. The writer's only.
  std::array<std::vector<std::weak_ptr<const std::string>>, kNumMetricsForms>
      pages_;

  Mutex mutex_;
  std::condition_variable changed_;
  std::array<Exchanges, kNumMetricsForms> waiting_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread writer_;  // last: it uses all of the above
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_METRICS_PAGE_H_
