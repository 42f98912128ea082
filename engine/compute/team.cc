#include "engine/compute/team.h"

#include <algorithm>
#include <chrono>

#include "engine/tensor/check.h"

namespace attend {
namespace {

using SpinClock = std::chrono::steady_clock;
// Between two ops of a step a few microseconds pass, and between two steps of a
// busy worker about a hundred, in which results are handed over: spinning meets
// the next one, where waking a thread that sleeps takes longer than most ops.
// Nobody spins while there is no step.
constexpr auto kSpin = std::chrono::microseconds(200);
// From here on the core is offered to other threads between two looks, so that
// a team with more members than cores gets on.
constexpr auto kSpinAlone = std::chrono::microseconds(10);

// Waits until `value` satisfies `done`: spins, then sleeps until notified.
template <typename Done>
void Await(const std::atomic<uint32_t>& value, Done done) {
  if (done(value.load(std::memory_order_acquire))) return;
  const auto start = SpinClock::now();
  while (true) {
    for (int i = 0; i < 16; ++i) {
      if (done(value.load(std::memory_order_acquire))) return;
      __builtin_ia32_pause();
    }
    const auto spun = SpinClock::now() - start;
    if (spun > kSpin) break;
    if (spun > kSpinAlone) std::this_thread::yield();
  }
  for (uint32_t seen = value.load(std::memory_order_acquire); !done(seen);
       seen = value.load(std::memory_order_acquire)) {
    value.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace

Team::Team(int size) : size_(size) {
  ATTEND_CHECK(size >= 1);
  threads_.reserve(size - 1);
  for (int member = 1; member < size; ++member) {
    threads_.emplace_back([this, member] { Work(member); });
  }
}

Team::~Team() {
  stop_ = true;
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::Run(absl::FunctionRef<void(int)> work) {
  if (size_ == 1) return work(0);
  work_ = &work;
  running_.store(size_ - 1, std::memory_order_relaxed);
  call_.fetch_add(1, std::memory_order_release);
  call_.notify_all();
  work(0);
  Await(running_, [](uint32_t running) { return running == 0; });
}

void Team::Work(int member) {
  for (uint32_t call = 1;; ++call) {
    Await(call_, [call](uint32_t now) { return now == call; });
    if (stop_) return;
    (*work_)(member);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      running_.notify_one();
    }
  }
}

Range Share(int total, int member, int members, int grain) {
  const int64_t grains = (static_cast<int64_t>(total) + grain - 1) / grain;
  const auto edge = [&](int64_t m) {
    return static_cast<int>(
        std::min<int64_t>(total, grains * m / members * grain));
  };
  return {edge(member), edge(member + 1)};
}

}  // namespace attend
