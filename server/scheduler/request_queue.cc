#include "server/scheduler/request_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/check.h"

namespace attend {
namespace {

// Departures come in bursts, one burst a step: a long memory smooths them.
constexpr double kGain = 0.05;
constexpr absl::Duration kRetryUnknown = absl::Seconds(1);
constexpr absl::Duration kMinRetry = absl::Milliseconds(10);
constexpr absl::Duration kMaxRetry = absl::Seconds(30);

}  // namespace

RequestQueue::RequestQueue(int max_requests, int64_t max_tokens)
    : max_requests_(max_requests), max_tokens_(max_tokens) {
  arrivals_.reserve(max_requests);
}

absl::Status RequestQueue::Push(std::unique_ptr<Request>& request,
                                absl::Time now) {
  absl::Status full;
  absl::Duration retry_after;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (draining_) return absl::UnavailableError("server is draining");
    const int64_t tokens = depth_.tokens + request->source_tokens;
    if (depth_.requests < max_requests_ && tokens <= max_tokens_) {
      request->times.arrival = now;
      depth_.requests += 1;
      depth_.tokens = tokens;
      unfinished_ += 1;
      arrivals_.push_back(std::move(request));
      arrived_.notify_one();
      return absl::OkStatus();
    }
    full = absl::ResourceExhaustedError(
        depth_.requests >= max_requests_
            ? absl::StrFormat("queue is full: %d requests wait, limit is %d "
                              "(max_queued_requests)",
                              depth_.requests, max_requests_)
            : absl::StrFormat("queue is full: %d tokens wait, input has %d, "
                              "limit is %d (max_queued_tokens)",
                              depth_.tokens, request->source_tokens,
                              max_tokens_));
    retry_after = RetryAfter();
  }
  full.SetPayload(kRetryAfterUrl,
                  absl::Cord(absl::FormatDuration(retry_after)));
  return full;
}

absl::Duration RequestQueue::RetryAfter() const {
  if (departure_seconds_ == 0) return kRetryUnknown;
  return std::clamp(
      absl::Ceil(absl::Seconds(departure_seconds_ * depth_.requests),
                 absl::Milliseconds(1)),
      kMinRetry, kMaxRetry);
}

bool RequestQueue::WaitForWork(bool busy) {
  std::unique_lock<std::mutex> lock(mutex_);
  arrived_.wait(lock, [&] { return busy || closed_ || !arrivals_.empty(); });
  return !closed_;
}

void RequestQueue::Take(std::vector<std::unique_ptr<Request>>& arrivals) {
  ATTEND_CHECK(arrivals.empty());
  std::lock_guard<std::mutex> lock(mutex_);
  arrivals_.swap(arrivals);
}

void RequestQueue::Depart(const Request& request, absl::Time now) {
  std::lock_guard<std::mutex> lock(mutex_);
  depth_.requests -= 1;
  depth_.tokens -= request.source_tokens;
  const absl::Time since = std::max(last_departure_, request.times.arrival);
  const double seconds = std::max(0.0, absl::ToDoubleSeconds(now - since));
  departure_seconds_ =
      departure_seconds_ == 0
          ? seconds
          : departure_seconds_ + kGain * (seconds - departure_seconds_);
  last_departure_ = now;
}

void RequestQueue::Return(const Request& request) {
  std::lock_guard<std::mutex> lock(mutex_);
  depth_.requests += 1;
  depth_.tokens += request.source_tokens;
}

void RequestQueue::Finish() {
  std::lock_guard<std::mutex> lock(mutex_);
  unfinished_ -= 1;
  if (unfinished_ == 0) empty_.notify_all();
}

void RequestQueue::Drain() {
  std::lock_guard<std::mutex> lock(mutex_);
  draining_ = true;
}

bool RequestQueue::draining() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return draining_;
}

void RequestQueue::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  draining_ = true;
  closed_ = true;
  arrived_.notify_one();
}

bool RequestQueue::WaitUntilEmpty(absl::Duration timeout) const {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto empty = [&] { return unfinished_ == 0; };
  if (timeout == absl::InfiniteDuration()) {
    empty_.wait(lock, empty);
    return true;
  }
  return empty_.wait_for(lock, absl::ToChronoNanoseconds(timeout), empty);
}

RequestQueue::Depth RequestQueue::depth() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return depth_;
}

}  // namespace attend
