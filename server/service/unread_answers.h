#ifndef ATTEND_SERVER_SERVICE_UNREAD_ANSWERS_H_
#define ATTEND_SERVER_SERVICE_UNREAD_ANSWERS_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>

#include "engine/tensor/mutex.h"

namespace attend {

// The long answers, or parts of streams, that clients have not read to the end,
// over all protocols. Clients may read slowly, but not all memory may wait for
// them: a new answer cuts off others until all have at most a number of bytes.
// Which: of the tenant that has most bytes, the oldest. The new answer itself
// is never cut, even if it has more bytes alone. Thread-safe.
class UnreadAnswers {
 public:
  // Answers that are no longer are not counted.
  static constexpr size_t kShort = 64 << 10;

  explicit UnreadAnswers(size_t limit) : limit_(limit) {}

  // An answer, from the beginning of its sending until the end.
  class Entry {
   public:
    // `tenant`: Tenant::id. `cut` ends the sending later; any thread may call
    // it, until the destructor has returned. Without memory for that, the
    // answer is not counted.
    Entry(UnreadAnswers& all, uint64_t tenant, size_t bytes,
          std::function<void()> cut);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    bool was_cut() const;

   private:
    friend class UnreadAnswers;
    enum class State { kNotListed, kListed, kBeingCut, kCut };

    UnreadAnswers& all_;
    const uint64_t tenant_;
    const size_t bytes_;
    const std::function<void()> cut_;
    // Guarded by all_.mutex_.
    State state_ = State::kNotListed;
    std::list<Entry*>::iterator place_;  // if listed
  };

 private:
  using Entries = std::list<Entry*>;

  void Add(Entry& entry);
  void Remove(Entry& entry);
  // Returns those that are to be cut for the entry.
  Entries List(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes those that are to be cut out of the list.
  Entries TakeWorst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlist(Entry& entry, Entries& to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t limit_;
  mutable Mutex mutex_;
  std::condition_variable changed_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // oldest first
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  // Of each tenant that has some.
  std::unordered_map<uint64_t, size_t> tenants_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_UNREAD_ANSWERS_H_
