#include "server/http/metrics_page.h"

#include <utility>

namespace attend {

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

void MetricsPage::Ask(HttpReply reply) {
  {
    MutexLock lock(mutex_);
    waiting_.push_back(std::move(reply));
  }
  changed_.notify_one();
}

void MetricsPage::Run() {
  while (true) {
    std::vector<HttpReply> replies;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return closed_ || !waiting_.empty();
      });
      if (closed_) return;
      replies.swap(waiting_);
    }
    const Page page = NewPage();
    for (const HttpReply& reply : replies) {
      reply({.headers = {{"Content-Type",
                          "text/plain; version=0.0.4; charset=utf-8"},
                         {"Cache-Control", "no-store"}},
             .body = page});
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
