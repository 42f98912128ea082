#include "server/service/unread_answers.h"

#include <iterator>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {

UnreadAnswers::Entry::Entry(UnreadAnswers& all, uint64_t tenant, size_t bytes,
                            std::function<void()> cut)
    : all_(all), tenant_(tenant), bytes_(bytes), cut_(std::move(cut)) {
  if (bytes > kShort) all.Add(*this);
}

UnreadAnswers::Entry::~Entry() {
  if (bytes_ > kShort) all_.Remove(*this);
}

// Without memory for it, an answer is not counted.
void UnreadAnswers::Add(Entry& entry) {
  MutexLock lock(mutex_);
  CatchOutOfMemory([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    MakeRoom(entry);
    entries_.push_back(&entry);
    entry.place_ = std::prev(entries_.end());
    entry.listed_ = true;
    bytes_ += entry.bytes_;
    return absl::OkStatus();
  }).IgnoreError();
}

void UnreadAnswers::Remove(Entry& entry) {
  MutexLock lock(mutex_);
  if (entry.listed_) Unlist(entry);
}

void UnreadAnswers::MakeRoom(const Entry& entry) {
  while (!entries_.empty() && bytes_ + entry.bytes_ > limit_) {
    Entry& worst = Worst(entry);
    Unlist(worst);
    worst.was_cut_ = true;
    worst.cut_();
  }
}

UnreadAnswers::Entry& UnreadAnswers::Worst(const Entry& entry) const {
  std::unordered_map<uint64_t, size_t> bytes = {{entry.tenant_, entry.bytes_}};
  for (const Entry* other : entries_) bytes[other->tenant_] += other->bytes_;
  Entry* worst = entries_.front();
  for (Entry* other : entries_) {
    if (bytes[other->tenant_] > bytes[worst->tenant_]) worst = other;
  }
  return *worst;
}

void UnreadAnswers::Unlist(Entry& entry) {
  entries_.erase(entry.place_);
  entry.listed_ = false;
  bytes_ -= entry.bytes_;
}

}  // namespace attend
