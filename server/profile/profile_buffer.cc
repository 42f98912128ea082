#include "server/profile/profile_buffer.h"

#include <unistd.h>

#include <thread>

#include "engine/tensor/check.h"
#include "server/scheduler/clock.h"

namespace attend {
namespace {

// From 0, in the order in which threads were first seen.
int NumberOfThisThread() {
  static std::atomic<int> count{0};
  thread_local const int number = count.fetch_add(1);
  return number;
}

}  // namespace

ProfileBuffer::ProfileBuffer() : lanes_(new Lane[kMaxThreads]) {}

void ProfileBuffer::Start(size_t max_events) {
  ATTEND_CHECK(!recording() && max_events % kChunk == 0);
  events_ = std::make_unique<OpTime[]>(max_events);  // writes to its pages
  owners_.assign(max_events / kChunk, nullptr);
  next_chunk_ = 0;
  dropped_ = 0;
  ++starts_;
  recording_ = true;
}

void ProfileBuffer::Stop() {
  recording_ = false;
  // A thread that has read `true` set its busy flag before.
  for (int i = 0; i < kMaxThreads; ++i) {
    while (lanes_[i].busy) std::this_thread::yield();
  }
}

int64_t ProfileBuffer::Now() { return absl::ToUnixNanos(SteadyNow()); }

OpTime* ProfileBuffer::NextEvent(Lane& lane) {
  if (lane.start != starts_) {
    lane.start = starts_;
    lane.dropped = 0;
    lane.next = lane.end = nullptr;
    lane.thread = gettid();
  }
  if (lane.next == lane.end) {
    const size_t chunk = next_chunk_.fetch_add(1);
    if (chunk >= owners_.size()) {
      ++lane.dropped;
      return nullptr;
    }
    owners_[chunk] = &lane;
    lane.next = events_.get() + chunk * kChunk;
    lane.end = lane.next + kChunk;
  }
  return lane.next++;
}

void ProfileBuffer::OnOp(const OpTime& op) {
  const int number = NumberOfThisThread();
  if (number >= kMaxThreads) {
    ++dropped_;
    return;
  }
  Lane& lane = lanes_[number];
  lane.busy = true;  // and only then recording_ is read; see Stop()
  if (recording_) {
    OpTime* const next = NextEvent(lane);
    if (next != nullptr) *next = op;
  }
  lane.busy.store(false, std::memory_order_release);
}

void ProfileBuffer::ForEach(
    absl::FunctionRef<void(int thread, const OpTime&)> visit) const {
  for (size_t chunk = 0; chunk < owners_.size(); ++chunk) {
    const Lane* const lane = owners_[chunk];
    if (lane == nullptr) continue;
    const OpTime* const begin = events_.get() + chunk * kChunk;
    for (const OpTime* event = begin; event < begin + kChunk; ++event) {
      if (event->name == nullptr) break;  // the thread's last chunk
      visit(lane->thread, *event);
    }
  }
}

int64_t ProfileBuffer::dropped() const {
  int64_t all = dropped_;
  for (int i = 0; i < kMaxThreads; ++i) {
    if (lanes_[i].start == starts_) all += lanes_[i].dropped;
  }
  return all;
}

}  // namespace attend
