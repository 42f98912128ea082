#include "server/http/metrics_page.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {
namespace {

HttpResponse PageResponse(std::shared_ptr<const std::string> page) {
  return {
      .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"},
                  {"Cache-Control", "no-store"}},
      .body = std::move(page)};
}

}  // namespace

MetricsPage::MetricsPage(std::function<std::string()> write)
    : write_(std::move(write)), writer_([this] { Run(); }) {}

MetricsPage::~MetricsPage() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  writer_.join();
}

void MetricsPage::Ask(std::shared_ptr<HttpExchange> exchange) {
  {
    MutexLock lock(mutex_);
    waiting_.push_back(std::move(exchange));
  }
  changed_.notify_one();
}

void MetricsPage::Run() {
  while (true) {
    std::vector<std::shared_ptr<HttpExchange>> exchanges;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return closed_ || !waiting_.empty();
      });
      if (closed_) return;
      exchanges.swap(waiting_);
    }
    const auto page = CatchOutOfMemory(
        [this]() -> absl::StatusOr<Page> { return NewPage(); });
    for (const auto& exchange : exchanges) {
      // Whoever cannot be told, is told by the end of the connection.
      CatchOutOfMemory([&] {
        exchange->Reply(page.ok()
                            ? PageResponse(*page)
                            : TextResponse(503, "no memory for this page\n"));
        return absl::OkStatus();
      }).IgnoreError();
    }
  }
}

MetricsPage::Page MetricsPage::NewPage() {
  std::erase_if(pages_, [](const auto& page) { return page.expired(); });
  if (pages_.size() == kMaxPages) {
    if (Page newest = pages_.back().lock()) return newest;
    pages_.pop_back();
  }
  auto page = std::make_shared<const std::string>(write_());
  pages_.push_back(page);
  return page;
}

}  // namespace attend
