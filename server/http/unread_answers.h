#ifndef ATTEND_SERVER_HTTP_UNREAD_ANSWERS_H_
#define ATTEND_SERVER_HTTP_UNREAD_ANSWERS_H_

#include <cstddef>
#include <functional>
#include <list>
#include <utility>

namespace attend {

// The answers that clients have not read to their end, oldest first. Clients
// may read slowly, but not all memory may wait for them: a new answer ends the
// oldest ones until the others have at most `limit` bytes with it. Used on the
// event loop only.
class UnreadAnswers {
 public:
  explicit UnreadAnswers(size_t limit) : limit_(limit) {}

  // One answer, from its construction until its end.
  class Answer {
   public:
    Answer() = default;
    // `cut` closes the connection of the answer, and so destroys the answer.
    Answer(UnreadAnswers& all, size_t bytes, std::function<void()> cut)
        : all_(&all), place_(all.Add(bytes, std::move(cut))) {}
    Answer(Answer&& other) noexcept
        : all_(std::exchange(other.all_, nullptr)), place_(other.place_) {}
    Answer& operator=(Answer&& other) noexcept {
      std::swap(all_, other.all_);
      std::swap(place_, other.place_);
      return *this;
    }
    ~Answer() {
      if (all_ != nullptr) all_->Remove(place_);
    }

   private:
    friend class UnreadAnswers;
    struct Entry {
      size_t bytes;
      std::function<void()> cut;
    };

    UnreadAnswers* all_ = nullptr;  // null: no answer
    std::list<Entry>::iterator place_;
  };

 private:
  using Entries = std::list<Answer::Entry>;

  Entries::iterator Add(size_t bytes, std::function<void()> cut);
  void Remove(Entries::iterator place);

  const size_t limit_;
  size_t bytes_ = 0;
  Entries entries_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_HTTP_UNREAD_ANSWERS_H_
