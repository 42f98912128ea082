#ifndef ATTEND_SERVER_SCHEDULER_TURNS_H_
#define ATTEND_SERVER_SCHEDULER_TURNS_H_

#include <atomic>
#include <cstdint>

namespace attend {

// What several workers share and one may use at a time: the machine, for models
// of one process. Turns are given in the order in which they were asked for, so
// a worker that asks again after each step leaves one step to every other that
// waits, however busy it is. Thread-safe; costs two atomic operations where
// nobody else wants a turn.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // One turn, which ends with it. Making it waits for all that were asked for
  // before.
  class Turn {
   public:
    explicit Turn(Turns& turns) : turns_(turns) {
      const uint32_t mine = turns_.next_.fetch_add(1);
      for (uint32_t now; (now = turns_.now_.load()) != mine;) {
        turns_.now_.wait(now);
      }
    }
    ~Turn() {
      turns_.now_.fetch_add(1);
      turns_.now_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
  };

  // Turns asked for that have not ended: the one that is taken and those that
  // wait.
  int unfinished() const { return static_cast<int>(next_ - now_); }

 private:
  std::atomic<uint32_t> next_{0};  // to be given
  std::atomic<uint32_t> now_{0};   // whose turn it is
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_TURNS_H_
