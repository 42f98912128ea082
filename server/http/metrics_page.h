#ifndef ATTEND_SERVER_HTTP_METRICS_PAGE_H_
#define ATTEND_SERVER_HTTP_METRICS_PAGE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/http/http_message.h"

namespace attend {

// Writes /metrics on a thread of its own: with many series that takes
// milliseconds, in which probes have to be answered. All that ask while a page
// is written share the next one, so that a flood of requests costs one page at
// a time. Thread-safe.
class MetricsPage {
 public:
  // Pages that clients read at once. When there are as many, those that ask
  // get the newest of them: memory stays bounded if nobody reads.
  static constexpr size_t kMaxPages = 16;

  // `write` gives the text; it is called on the page's thread.
  explicit MetricsPage(std::function<std::string()> write);
  // Drops the replies that wait.
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Replies with a page that is written after this call, but for kMaxPages.
  void Ask(HttpReply reply);

 private:
  using Page = std::shared_ptr<const std::string>;

  void Run();
  Page NewPage();

  const std::function<std::string()> write_;
  std::vector<std::weak_ptr<const std::string>> pages_;  // the writer's only

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<HttpReply> waiting_;  // guarded by mutex_
  bool closed_ = false;             // guarded by mutex_

  std::thread writer_;  // last: it uses all of the above
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_METRICS_PAGE_H_
