#include "server/service/unread_answers.h"

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

bool UnreadAnswers::Entry::was_cut() const {
  if (bytes_ <= kShort) return false;
  MutexLock lock(all_.mutex_);
  return state_ == State::kBeingCut || state_ == State::kCut;
}

void UnreadAnswers::Add(Entry& entry) {
  Entries worst;
  CatchOutOfMemory([&] {
    MutexLock lock(mutex_);
    worst = List(entry);
    return absl::OkStatus();
  }).IgnoreError();
  // Without the lock: it may take long, and the others need not wait. An entry
  // that is being cut waits in its destructor.
  for (Entry* const cut : worst) {
    CatchOutOfMemory([&] {
      cut->cut_();
      return absl::OkStatus();
    }).IgnoreError();
    MutexLock lock(mutex_);
    cut->state_ = Entry::State::kCut;
    changed_.notify_all();
  }
}

void UnreadAnswers::Remove(Entry& entry) {
  MutexLock lock(mutex_);
  changed_.wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return entry.state_ != Entry::State::kBeingCut;
  });
  Entries removed;
  if (entry.state_ == Entry::State::kListed) Unlist(entry, removed);
}

UnreadAnswers::Entries UnreadAnswers::List(Entry& entry) {
  Entries added = {&entry};
  tenants_[entry.tenant_] += entry.bytes_;
  // From here on nothing is allocated.
  bytes_ += entry.bytes_;
  Entries worst = TakeWorst();
  entry.place_ = added.begin();
  entry.state_ = Entry::State::kListed;
  entries_.splice(entries_.end(), added);
  return worst;
}

UnreadAnswers::Entries UnreadAnswers::TakeWorst() {
  Entries worst;
  while (!entries_.empty() && bytes_ > limit_) {
    Entry* most = entries_.front();
    for (Entry* const other : entries_) {
      if (tenants_[other->tenant_] > tenants_[most->tenant_]) most = other;
    }
    Unlist(*most, worst);
    most->state_ = Entry::State::kBeingCut;
  }
  return worst;
}

void UnreadAnswers::Unlist(Entry& entry, Entries& to) {
  to.splice(to.end(), entries_, entry.place_);
  entry.state_ = Entry::State::kNotListed;
  bytes_ -= entry.bytes_;
  const auto tenant = tenants_.find(entry.tenant_);
  tenant->second -= entry.bytes_;
  if (tenant->second == 0) tenants_.erase(tenant);
}

}  // namespace attend
