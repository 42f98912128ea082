#include "client/cpp/cli/ordered_lines.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace attend {
namespace {

class InOrder {
 public:
  InOrder(int64_t window, const LinePipeline& pipeline)
      : window_(window),
        pipeline_(pipeline),
        read_(pipeline.lines_before),
        emitted_(pipeline.lines_before) {}

  void Work() {
    for (std::vector<Line> lines = Read(); !lines.empty(); lines = Read()) {
      LineResults results = pipeline_.work(lines);
      Emit(std::move(lines), std::move(results));
    }
  }

 private:
  // A batch; empty: there is no more.
  std::vector<Line> Read() {
    const std::lock_guard<std::mutex> reading(reading_);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      room_.wait(lock,
                 [&] { return read_ - emitted_ + pipeline_.batch <= window_; });
    }
    std::vector<Line> lines;
    while (!ended_ && static_cast<int>(lines.size()) < pipeline_.batch) {
      std::optional<std::string> text = pipeline_.next();
      ended_ = !text.has_value();
      if (!ended_) lines.push_back({++read_, *std::move(text)});
    }
    return lines;
  }

  // Emits while the lock is held, so that the work waits when the output waits.
  void Emit(std::vector<Line> lines, LineResults results) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < lines.size(); ++i) {
      const int64_t number = lines[i].number;
      done_.emplace(number,
                    std::pair(std::move(lines[i]), std::move(results[i])));
    }
    for (auto head = done_.begin();
         head != done_.end() && head->first == emitted_ + 1;
         head = done_.begin()) {
      pipeline_.emit(head->second.first, head->second.second);
      done_.erase(head);
      ++emitted_;
    }
    room_.notify_all();
  }

  const int64_t window_;
  const LinePipeline& pipeline_;

  std::mutex reading_;  // taken before mutex_
  int64_t read_;        // guarded by reading_
  bool ended_ = false;  // guarded by reading_

  std::mutex mutex_;
  std::condition_variable room_;
  int64_t emitted_;  // guarded by mutex_
  // Finished lines that come after an unfinished one. Guarded by mutex_.
  std::map<int64_t, std::pair<Line, absl::StatusOr<std::string>>> done_;
};

}  // namespace

void RunInOrder(int in_flight, const LinePipeline& pipeline) {
  InOrder in_order(int64_t{4} * in_flight * pipeline.batch, pipeline);
  std::vector<std::thread> threads;
  for (int i = 1; i < in_flight; ++i) {
    threads.emplace_back([&] { in_order.Work(); });
  }
  in_order.Work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace attend
