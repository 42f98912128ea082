#ifndef ATTEND_SERVER_SCHEDULER_TURNS_H_
#define ATTEND_SERVER_SCHEDULER_TURNS_H_

#include <atomic>
#include <cstdint>

namespace attend {

// Turns at something that several workers share and only one may use at a time:
// the machine, for the models of one process. Turns are given in the order in
// which they were asked for. A busy worker that asks again after each step thus
// lets every waiting worker do one step in between. Thread-safe. A turn that
// nobody else wants costs two atomic operations.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // One turn: the constructor waits for all turns that were asked for before,
  // and the destructor ends the turn.
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

  // The number of turns that have not ended: the current one and those that
  // wait.
  int unfinished() const { return static_cast<int>(next_ - now_); }

 private:
  std::atomic<uint32_t> next_{0};  // number of the next turn to be asked for
  std::atomic<uint32_t> now_{0};   // number of the current turn
};

}  // namespace attend

#endif  // ATTEND_SERVER_SCHEDULER_TURNS_H_
