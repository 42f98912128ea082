#ifndef ATTEND_SERVER_SCHEDULER_TURNS_H_
#define ATTEND_SERVER_SCHEDULER_TURNS_H_

#include <condition_variable>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/tensor/mutex.h"
#include "server/scheduler/turn_shares.h"

namespace attend {

// Turns at something that several workers share and only one may use at a time:
// the machine, for the models of one process. A turn is one step, or several
// steps one after the other; TurnShares decides whose is next. While others
// wait, no time is lost between two turns. Thread-safe.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // The place of one worker, whose thread calls all functions.
  class Place {
   public:
    // `turns` must outlive the place. Allocates memory for `max_claims`.
    explicit Place(Turns& turns, size_t max_claims = 0);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Waits until the worker may compute a step. `claims`: the tenants that
    // have requests now; fills in how many models each has requests in. True:
    // it did wait, so much may have changed.
    bool Take(absl::Span<TurnClaim> claims);
    // The step had `seconds` of work. The worker keeps the turn if its next
    // step would come before those of all that wait: then Take() or Pass() must
    // follow soon.
    void EndStep(double seconds);
    // The worker wants no step now.
    void Pass();

   private:
    friend class Turns;

    Turns& turns_;
    int number_;
    bool has_turn_ = false;  // guarded by turns_.mutex_
    std::condition_variable given_;
  };

  // The number of workers that compute a step or wait for that.
  int unfinished();

 private:
  // Gives the turn to the next that asks, if nobody has it.
  void Give() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TakeBack(Place& place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  TurnShares shares_ ABSL_GUARDED_BY(mutex_);
  std::vector<Place*> places_ ABSL_GUARDED_BY(mutex_);  // by number, or null
  bool is_taken_ ABSL_GUARDED_BY(mutex_) = false;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_TURNS_H_
