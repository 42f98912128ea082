#include "client/cpp/in_order.h"

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
      : window_(window), pipeline_(pipeline) {}

  void Work() {
    while (std::optional<Line> line = Read()) {
      absl::StatusOr<std::string> result = pipeline_.work(*line);
      Emit(*std::move(line), std::move(result));
    }
  }

 private:
  std::optional<Line> Read() {
    const std::lock_guard<std::mutex> reading(reading_);
    {
      std::unique_lock<std::mutex> lock(mutex_);
      room_.wait(lock, [&] { return read_ - emitted_ < window_; });
    }
    if (ended_) return std::nullopt;
    std::optional<std::string> text = pipeline_.next();
    ended_ = !text.has_value();
    if (ended_) return std::nullopt;
    return Line{++read_, *std::move(text)};
  }

  // Emits under the lock: where the output blocks, so shall the work.
  void Emit(Line line, absl::StatusOr<std::string> result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t number = line.number;
    done_.emplace(number, std::pair(std::move(line), std::move(result)));
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
  int64_t read_ = 0;    // guarded by reading_
  bool ended_ = false;  // guarded by reading_

  std::mutex mutex_;
  std::condition_variable room_;
  int64_t emitted_ = 0;  // guarded by mutex_
  // Finished, behind one that is not. Guarded by mutex_.
  std::map<int64_t, std::pair<Line, absl::StatusOr<std::string>>> done_;
};

}  // namespace

void RunInOrder(int in_flight, const LinePipeline& pipeline) {
  InOrder in_order(4 * static_cast<int64_t>(in_flight), pipeline);
  std::vector<std::thread> threads;
  for (int i = 1; i < in_flight; ++i) {
    threads.emplace_back([&] { in_order.Work(); });
  }
  in_order.Work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace attend
