#ifndef ATTEND_SERVER_PROFILE_PROFILE_BUFFER_H_
#define ATTEND_SERVER_PROFILE_PROFILE_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/compute/op_watch.h"

namespace attend {

// The events of threads during a profile. Start() allocates all memory: OnOp()
// allocates nothing, never waits, and drops events that do not fit. Each thread
// writes to a separate lane, so threads do not share
// cache lines. Start(), Stop() and the rest: one thread at a time.
class ProfileBuffer final : public OpWatch {
 public:
  // Threads with a higher number, of all that the process ever had, are left
  // out.
  static constexpr int kMaxThreads = 2048;
  static constexpr int kChunk = 256;  // events that a thread takes at once

  ProfileBuffer();

  // `max_events` is a multiple of kChunk. Throws std::bad_alloc.
  void Start(size_t max_events);
  // Returns when no thread writes any more.
  void Stop();
  // Gives the memory back. Not while it records.
  void Clear() { events_.reset(); }

  bool recording() const { return recording_.load(std::memory_order_relaxed); }
  // Any thread, at any time. Now() is SteadyNow(), since 1970.
  int64_t Now() override;
  void OnOp(const OpTime& op) override;

  // After Stop() and until Clear() or Start(). Calls `visit` for each event;
  // the events of a thread come in the order of their ends. `thread` is the
  // system's number.
  void ForEach(absl::FunctionRef<void(int thread, const OpTime&)> visit) const;
  // Number of events that did not fit.
  int64_t dropped() const;

 private:
  // Private to a thread, except in Stop().
  struct alignas(64) Lane {
    std::atomic<bool> busy{false};
    int thread = 0;  // as the system knows it; 0: nothing was recorded
    int64_t dropped = 0;
    OpTime* next = nullptr;
    OpTime* end = nullptr;  // end of the chunk
    uint64_t start = 0;     // the Start() for which the rest is
  };

  // Null: there is none left.
  OpTime* NextEvent(Lane& lane);

  const std::unique_ptr<Lane[]> lanes_;  // [kMaxThreads]
  std::atomic<bool> recording_{false};
  std::atomic<int64_t> dropped_{0};  // by threads without a lane
  uint64_t starts_ = 0;              // written while nobody records
  std::unique_ptr<OpTime[]> events_;
  std::vector<const Lane*> owners_;  // [chunks]; null: not taken
  std::atomic<size_t> next_chunk_{0};
};

}  // namespace attend

#endif  // ATTEND_SERVER_PROFILE_PROFILE_BUFFER_H_
