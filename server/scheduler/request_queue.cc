#include "server/scheduler/request_queue.h"

#include <chrono>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "engine/tensor/check.h"

namespace attend {

RequestQueue::RequestQueue(int max_requests, int64_t max_tokens,
                           int max_returned)
    : max_requests_(max_requests), max_tokens_(max_tokens) {
  arrivals_.reserve(static_cast<size_t>(kTimesMax) * max_requests);
  held_.reserve(arrivals_.capacity() + max_returned);
}

absl::Status RequestQueue::Push(std::unique_ptr<Request>& request,
                                absl::Time now) {
  absl::Status full;
  absl::Duration retry_after;
  {
    MutexLock lock(mutex_);
    if (closed_) return absl::UnavailableError("server is draining");
    const Held* held = Find(request->tenant);
    full = CheckPlace(*request, held == nullptr ? Depth() : held->depth);
    if (full.ok()) {
      request->times.arrival = now;
      Enter(*request);
      if (unfinished_++ == 0) rate_.OnBusy(now);
      arrivals_.push_back(std::move(request));
      arrived_.notify_one();
      return full;
    }
    retry_after = rate_.RetryAfter(depth_.requests, now);
  }
  full.SetPayload(kRetryAfterUrl,
                  absl::Cord(absl::FormatDuration(retry_after)));
  return full;
}

absl::Status RequestQueue::CheckPlace(const Request& request,
                                      const Depth& held) const {
  if (held.requests >= request.tenant.max_queued) {
    absl::Status full = absl::ResourceExhaustedError(absl::StrFormat(
        "queue is full for this tenant: %d requests of it wait, limit is %d "
        "(max_queued_inputs of the tenant)",
        held.requests, request.tenant.max_queued));
    full.SetPayload(kTenantLimitUrl, absl::Cord());
    return full;
  }
  if (int64_t{held.requests} + depth_.requests >=
      int64_t{kTimesMax} * max_requests_) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "queue is full: %d requests wait, %d of them of this tenant, limit is "
        "%d (max_queued_requests)",
        depth_.requests, held.requests, max_requests_));
  }
  if (held.tokens + depth_.tokens + kTimesMax * request.source_tokens >
      kTimesMax * max_tokens_) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "queue is full: %d tokens wait, %d of them of this tenant, input has "
        "%d, limit is %d (max_queued_tokens)",
        depth_.tokens, held.tokens, request.source_tokens, max_tokens_));
  }
  return absl::OkStatus();
}

RequestQueue::Held* RequestQueue::Find(const Tenant& tenant) {
  for (Held& held : held_) {
    if (held.tenant == tenant.id) return &held;
  }
  return nullptr;
}

void RequestQueue::Enter(const Request& request) {
  Held* held = Find(request.tenant);
  if (held == nullptr) {
    held_.push_back({.tenant = request.tenant.id, .depth = {}});
    held = &held_.back();
  }
  for (Depth* depth : {&depth_, &held->depth}) {
    depth->requests += 1;
    depth->tokens += request.source_tokens;
  }
}

void RequestQueue::Leave(const Request& request) {
  Held* held = Find(request.tenant);
  for (Depth* depth : {&depth_, &held->depth}) {
    depth->requests -= 1;
    depth->tokens -= request.source_tokens;
  }
  if (held->depth.requests > 0) return;
  *held = held_.back();
  held_.pop_back();
}

bool RequestQueue::WaitForWork(bool busy) {
  MutexLock lock(mutex_);
  arrived_.wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return busy || closed_ || !arrivals_.empty();
  });
  return !closed_;
}

void RequestQueue::Take(std::vector<std::unique_ptr<Request>>& arrivals) {
  ATTEND_CHECK(arrivals.empty());
  MutexLock lock(mutex_);
  arrivals_.swap(arrivals);
}

void RequestQueue::Depart(const Request& request) {
  MutexLock lock(mutex_);
  Leave(request);
}

void RequestQueue::Return(const Request& request) {
  MutexLock lock(mutex_);
  Enter(request);
}

void RequestQueue::Finish(absl::Time now) {
  MutexLock lock(mutex_);
  rate_.OnFinished(now);
  unfinished_ -= 1;
  if (unfinished_ > 0) return;
  rate_.OnIdle(now);
  empty_.notify_all();
}

void RequestQueue::Close() {
  MutexLock lock(mutex_);
  closed_ = true;
  arrived_.notify_one();
}

bool RequestQueue::WaitUntilEmpty(absl::Duration timeout) const {
  MutexLock lock(mutex_);
  const auto empty = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return unfinished_ == 0;
  };
  if (timeout == absl::InfiniteDuration()) {
    empty_.wait(lock, empty);
    return true;
  }
  return empty_.wait_for(lock, absl::ToChronoNanoseconds(timeout), empty);
}

RequestQueue::Depth RequestQueue::depth() const {
  MutexLock lock(mutex_);
  return depth_;
}

}  // namespace attend
