#include "server/http/unread_answers.h"

#include <iterator>

#include "engine/tensor/check.h"

namespace attend {

UnreadAnswers::Entries::iterator UnreadAnswers::Add(size_t bytes,
                                                    std::function<void()> cut) {
  while (!entries_.empty() && bytes_ + bytes > limit_) {
    const size_t before = entries_.size();
    // The entry ends in the middle of the call.
    const std::function<void()> cut_oldest = std::move(entries_.front().cut);
    cut_oldest();
    ATTEND_CHECK(entries_.size() < before);
  }
  entries_.push_back({bytes, std::move(cut)});
  bytes_ += bytes;
  return std::prev(entries_.end());
}

void UnreadAnswers::Remove(Entries::iterator place) {
  bytes_ -= place->bytes;
  entries_.erase(place);
}

}  // namespace attend
