#include "client/cpp/load/load.h"

#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>

#include "client/cpp/lib/channel.h"
#include "client/cpp/load/load_calls.h"
#include "client/cpp/load/statistics.h"

namespace attend {

struct LoadGenerator::Channel {
  explicit Channel(const ClientOptions& options)
      : stubs(OpenChannel(options), MetadataOf(options)) {}

  LoadStubs stubs;
};

namespace {

// Decides when the calls of one load start.
class Schedule {
 public:
  // Starts at most `count` calls.
  Schedule(const Load& load, int64_t count, absl::Duration start)
      : load_(load), left_(count), start_(start) {
    if (load.rate > 0) arrivals_.emplace(load.rate, load.seed);
    if (arrivals_.has_value()) due_ = start_ + arrivals_->Next();
  }

  // The time at which the next call is due; a time in the past means now.
  // Nothing while a closed loop is full, and after the last call.
  std::optional<absl::Duration> Due(absl::Duration now) const {
    if (left_ == 0) return std::nullopt;
    if (arrivals_.has_value()) return due_;
    if (in_flight_ < load_.concurrency) return now;
    return std::nullopt;
  }

  const LoadRequest& Start() {
    --left_;
    ++in_flight_;
    if (arrivals_.has_value()) due_ = start_ + arrivals_->Next();
    return load_.requests[started_++ % load_.requests.size()];
  }

  void End() { --in_flight_; }
  bool Done() const { return left_ == 0 && in_flight_ == 0; }
  const Load& load() const { return load_; }

 private:
  const Load& load_;
  int64_t left_;
  const absl::Duration start_;
  std::optional<PoissonArrivals> arrivals_;
  absl::Duration due_;
  int in_flight_ = 0;
  size_t started_ = 0;
};

class Runner {
 public:
  Runner(LoadStubs& stubs, const Load& load, const Load* background)
      : stubs_(stubs), start_(SteadyNow()), load_(load, load.count, start_) {
    if (background != nullptr) {
      background_.emplace(*background, INT64_MAX, start_);
    }
  }

  LoadResult Run() {
    LoadResult result;
    while (!load_.Done()) {
      WaitAndProceed(StartDue(), &result);
    }
    result.elapsed = SteadyNow() - start_;
    for (const auto& entry : calls_) entry.first->Cancel();
    while (!calls_.empty()) {
      WaitAndProceed(absl::InfiniteDuration(), &result);
    }
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
    return result;
  }

 private:
  // Starts the calls that are due. Returns the time until the next one is due.
  absl::Duration StartDue() {
    absl::Duration pause = absl::InfiniteDuration();
    for (Schedule* schedule : {&load_, background_ ? &*background_ : nullptr}) {
      if (schedule == nullptr) continue;
      absl::Duration now = SteadyNow();
      std::optional<absl::Duration> due = schedule->Due(now);
      for (; due.has_value() && *due <= now; due = schedule->Due(now)) {
        Start(*schedule, *due);
        now = SteadyNow();
      }
      if (due.has_value()) pause = std::min(pause, *due - now);
    }
    return pause;
  }

  void Start(Schedule& schedule, absl::Duration due) {
    const LoadRequest& request = schedule.Start();
    const Load& load = schedule.load();
    std::unique_ptr<LoadCall> call =
        StartCall(stubs_, queue_, request, load.stream, due, load.timeout);
    LoadCall* const key = call.get();
    calls_.emplace(key, std::pair(std::move(call), &schedule));
  }

  void WaitAndProceed(absl::Duration pause, LoadResult* result) {
    void* tag = nullptr;
    bool ok = false;
    if (pause == absl::InfiniteDuration()) {
      queue_.Next(&tag, &ok);
    } else if (queue_.AsyncNext(&tag, &ok,
                                std::chrono::system_clock::now() +
                                    absl::ToChronoNanoseconds(pause)) !=
               grpc::CompletionQueue::GOT_EVENT) {
      return;
    }
    LoadCall* const call = static_cast<LoadCall*>(tag);
    if (call->Proceed(ok)) return;
    const auto found = calls_.find(call);
    Schedule* const schedule = found->second.second;
    schedule->End();
    if (schedule == &load_) Record(*call, *result);
    calls_.erase(found);
  }

  void Record(LoadCall& call, LoadResult& result) {
    result.calls.push_back(call.TakeRecord());
    result.calls.back().end = SteadyNow() - start_;
    const auto& on_end = load_.load().on_end;
    if (on_end != nullptr) on_end(static_cast<int64_t>(result.calls.size()));
  }

  LoadStubs& stubs_;
  const absl::Duration start_;
  Schedule load_;
  std::optional<Schedule> background_;
  grpc::CompletionQueue queue_;
  std::unordered_map<LoadCall*, std::pair<std::unique_ptr<LoadCall>, Schedule*>>
      calls_;
};

}  // namespace

LoadGenerator::LoadGenerator(const ClientOptions& options)
    : channel_(std::make_unique<Channel>(options)) {}

LoadGenerator::~LoadGenerator() = default;

LoadResult LoadGenerator::Run(const Load& load, const Load* background) {
  return Runner(channel_->stubs, load, background).Run();
}

}  // namespace attend
