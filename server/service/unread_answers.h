#ifndef ATTEND_SERVER_SERVICE_UNREAD_ANSWERS_H_
#define ATTEND_SERVER_SERVICE_UNREAD_ANSWERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

#include "engine/tensor/mutex.h"

namespace attend {

// The long answers that clients have not read to the end, over all protocols.
// Clients may read slowly, but not all memory may wait for them: together the
// answers have at most a number of bytes, and a further one cuts off others.
// Which: of the tenant that has most bytes, the oldest. Thread-safe.
class UnreadAnswers {
 public:
  // Answers that are no longer are not counted.
  static constexpr size_t kShort = 16 << 10;

  explicit UnreadAnswers(size_t limit) : limit_(limit) {}

  // An answer, from the beginning of its sending until the end.
  class Entry {
   public:
    // `tenant`: Tenant::id. `cut` ends the sending later; any thread may call
    // it, until the destructor has returned.
    Entry(UnreadAnswers& all, uint64_t tenant, size_t bytes,
          std::function<void()> cut);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    bool was_cut() const { return was_cut_; }

   private:
    friend class UnreadAnswers;

    UnreadAnswers& all_;
    const uint64_t tenant_;
    const size_t bytes_;
    const std::function<void()> cut_;
    std::atomic<bool> was_cut_{false};
    bool listed_ = false;  // guarded by all_.mutex_
    std::list<Entry*>::iterator place_;
  };

 private:
  void Add(Entry& entry);
  void Remove(Entry& entry);
  void MakeRoom(const Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The entry to cut for `entry`, where there are some.
  Entry& Worst(const Entry& entry) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlist(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t limit_;
  Mutex mutex_;
  std::list<Entry*> entries_ ABSL_GUARDED_BY(mutex_);  // oldest first
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SERVICE_UNREAD_ANSWERS_H_
