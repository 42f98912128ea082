#ifndef ATTEND_SERVER_BUDGET_REQUEST_BUDGET_H_
#define ATTEND_SERVER_BUDGET_REQUEST_BUDGET_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

#include "engine/tensor/mutex.h"

namespace attend {

class RequestBytes;

// Number of bytes that the requests of a server have together, unless it takes
// larger messages.
inline constexpr size_t kMaxRequestBytes = size_t{256} << 20;

// Memory of requests, over all protocols: from the arrival of their first byte
// until they have been read. All requests together have at most a number of
// bytes, and those of one tenant at most three quarters of it, so that the
// others always find room. If bytes do not fit, the oldest request that still
// arrives and belongs to the tenant with the most bytes makes room. Clients may
// send slowly, but they cannot keep others out by that. Thread-safe.
class RequestBudget {
 public:
  // `freed` is called with the number of bytes whenever some go back.
  explicit RequestBudget(size_t limit, std::function<void(size_t)> freed = {})
      : limit_(limit), freed_(std::move(freed)) {}
  ~RequestBudget();
  RequestBudget(const RequestBudget&) = delete;
  RequestBudget& operator=(const RequestBudget&) = delete;

  size_t limit() const { return limit_; }
  size_t tenant_limit() const { return limit_ - limit_ / 4; }
  // All bytes that are taken now.
  size_t bytes() const;

  // The bytes that arrive for one call. Its functions are called by one thread
  // at a time.
  class Entry {
   public:
    // `tenant`: Tenant::id. `cut` asks the call to end soon; null: it cannot be
    // asked. Any thread may call it, at most once, until the destructor has
    // returned; it must not wait, nor call this entry.
    Entry(RequestBudget& all, uint64_t tenant, std::function<void()> cut);
    // Gives its bytes back.
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    const RequestBudget& budget() const { return all_; }

    // Takes more bytes. False: there is no room for them, or the entry has been
    // cut; the call is to be refused.
    bool Grow(size_t bytes);
    // Moves bytes of a request that has arrived. They are no longer cut.
    RequestBytes Take(size_t bytes);

   private:
    friend class RequestBudget;
    enum class State { kArriving, kBeingCut, kCut };

    RequestBudget& all_;
    const uint64_t tenant_;
    const std::function<void()> cut_;
    // Guarded by all_.mutex_.
    size_t bytes_ = 0;
    size_t cut_bytes_ = 0;  // that are no longer counted
    State state_ = State::kArriving;
    std::list<Entry*> unlisted_;  // this entry, while it has no bytes
    std::list<Entry*>::iterator place_;
  };

 private:
  friend class RequestBytes;

  bool Grow(Entry& entry, size_t bytes);
  // Takes the bytes, or returns false. Entries that make room for them are
  // moved into `cut`.
  bool MakeRoom(Entry& entry, size_t bytes, std::list<Entry*>& cut)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlist(Entry& entry, std::list<Entry*>& to)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The oldest entry of the tenant; null: there is none.
  Entry* Oldest(uint64_t tenant) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  uint64_t Heaviest() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Cut(const std::list<Entry*>& entries);
  void Remove(Entry& entry);
  void Return(uint64_t tenant, size_t bytes);
  void Subtract(uint64_t tenant, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t limit_;
  const std::function<void(size_t)> freed_;
  mutable Mutex mutex_;
  std::condition_variable changed_;
  // Entries with bytes, by the time of the first of these.
  std::list<Entry*> arriving_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Bytes of each tenant that has some.
  std::unordered_map<uint64_t, size_t> tenants_ ABSL_GUARDED_BY(mutex_);
};

// Bytes of a request that has arrived, which go back when their owner ends.
class RequestBytes {
 public:
  RequestBytes() = default;
  RequestBytes(RequestBytes&& other) noexcept;
  RequestBytes& operator=(RequestBytes&& other) noexcept;
  ~RequestBytes();

 private:
  friend class RequestBudget;
  RequestBytes(RequestBudget& budget, uint64_t tenant, size_t bytes)
      : budget_(&budget), tenant_(tenant), bytes_(bytes) {}

  RequestBudget* budget_ = nullptr;  // null: no bytes
  uint64_t tenant_ = 0;
  size_t bytes_ = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_BUDGET_REQUEST_BUDGET_H_
