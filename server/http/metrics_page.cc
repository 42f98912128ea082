#include "server/http/metrics_page.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {
namespace {

// The forms, in the order of their numbers.
constexpr MetricsForm kForms[kNumMetricsForms] = {
    {.open_metrics = false, .gzip = false},
    {.open_metrics = false, .gzip = true},
    {.open_metrics = true, .gzip = false},
    {.open_metrics = true, .gzip = true}};

size_t NumberOf(MetricsForm form) {
  return (form.open_metrics ? 2 : 0) + (form.gzip ? 1 : 0);
}

}  // namespace

MetricsPage::MetricsPage(Write write, Write open_metrics)
    : write_(std::move(write)),
      open_metrics_(std::move(open_metrics)),
      writer_([this] { Run(); }) {}

MetricsPage::~MetricsPage() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  writer_.join();
}

void MetricsPage::Ask(MetricsForm form,
                      std::shared_ptr<HttpExchange> exchange) {
  if (open_metrics_ == nullptr) form.open_metrics = false;
  {
    MutexLock lock(mutex_);
    waiting_[NumberOf(form)].push_back(std::move(exchange));
  }
  changed_.notify_one();
}

void MetricsPage::Run() {
  while (true) {
    std::array<Exchanges, kNumMetricsForms> waiting;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return closed_ ||
               std::any_of(waiting_.begin(), waiting_.end(),
                           [](const Exchanges& some) { return !some.empty(); });
      });
      if (closed_) return;
      waiting.swap(waiting_);
    }
    for (size_t form = 0; form < waiting.size(); ++form) {
      if (!waiting[form].empty()) Answer(form, waiting[form]);
    }
  }
}

void MetricsPage::Answer(size_t form, const Exchanges& exchanges) {
  const auto page =
      CatchOutOfMemory([&]() -> absl::StatusOr<Page> { return NewPage(form); });
  for (const auto& exchange : exchanges) {
    // Whoever cannot be told, is told by the end of the connection.
    CatchOutOfMemory([&] {
      exchange->Reply(page.ok()
                          ? PageResponse(kForms[form], *page)
                          : TextResponse(503, "no memory for this page\n"));
      return absl::OkStatus();
    }).IgnoreError();
  }
}

MetricsPage::Page MetricsPage::NewPage(size_t form) {
  auto& pages = pages_[form];
  std::erase_if(pages, [](const auto& page) { return page.expired(); });
  if (pages.size() == kMaxPages) {
    if (Page newest = pages.back().lock()) return newest;
    pages.pop_back();
  }
  const Write& write = kForms[form].open_metrics ? open_metrics_ : write_;
  auto page =
      std::make_shared<const std::string>(Packed(kForms[form], write()));
  pages.push_back(page);
  return page;
}

}  // namespace attend
