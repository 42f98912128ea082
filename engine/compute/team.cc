#include "engine/compute/team.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/compute/cpu_quota.h"
#include "engine/compute/leave_cpu.h"
#include "engine/compute/op_timer.h"
#include "engine/tensor/check.h"
#include "engine/tensor/thread_name.h"

namespace attend {
namespace {

// Time for which a member spins before it sleeps. Waking a sleeping thread
// takes longer than most operations. A few microseconds pass between two
// operations of a step, about a hundred between two steps of a busy worker.
// Members thus spin while there are steps, and sleep otherwise.
constexpr std::chrono::microseconds kSpin(200);

}  // namespace

// Delegates to the other constructor, so that the destructor runs if a thread
// cannot be started: it ends the threads that were started.
Team::Team(int size, NumaNodes nodes)
    : Team(size, std::move(nodes), size > CpuQuota() ? kSpin * 0 : kSpin) {
  threads_.reserve(size - 1);
  for (int member = 1; member < size; ++member) {
    threads_.emplace_back([this, member] { Work(member); });
  }
}

Team::Team(int size, NumaNodes nodes, std::chrono::microseconds spin)
    : size_(size), nodes_(std::move(nodes)), call_(spin), running_(spin) {
  ATTEND_CHECK(size >= 1);
}

Team::~Team() {
  stop_ = true;
  call_.Add(1);
  call_.Wake();
  for (std::thread& thread : threads_) thread.join();
}

void Team::PlaceCaller() const {
  thread_local const Team* placed = nullptr;
  if (placed == this) return;
  placed = this;
  nodes_.Enter(0);
}

void Team::Run(absl::FunctionRef<void(int)> work) {
  if (size_ == 1) return work(0);
  OpWatch* const watch = WatchOfOps();
  const char* const op = watch == nullptr ? nullptr : OpTimer::NameNow();
  const auto watched = [&](int member) {
    OpTime part = {.name = op, .begin = watch->Now()};
    work(member);
    part.end = watch->Now();
    watch->OnOp(part);
  };
  const absl::FunctionRef<void(int)> watched_work = watched;
  work_ = watch == nullptr ? &work : &watched_work;
  cpu_of_caller_ = CurrentCpu();
  running_.Store(size_ - 1);
  call_.Add(1);
  // A member that slept may be on this CPU, and wait until it can run.
  const bool woken = call_.Wake();
  (*work_)(0);
  running_.Await([](uint32_t running) { return running == 0; }, woken);
}

void Team::Work(int member) {
  NameThread(absl::StrCat("member ", member));
  nodes_.Enter(node(member));
  for (uint32_t call = 1;; ++call) {
    const bool slept =
        call_.Await([call](uint32_t now) { return now == call; });
    if (stop_) return;
    // The system often wakes a member on the caller's CPU, and leaves both
    // there for milliseconds: while one spins, the other waits to run.
    if (slept) LeaveCpu(cpu_of_caller_);
    (*work_)(member);
    if (running_.Add(-1) == 0) running_.Wake();
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
