#include "server/scheduler/turns.h"

#include <cstddef>

namespace attend {

Turns::Place::Place(Turns& turns, size_t max_claims) : turns_(turns) {
  MutexLock lock(turns_.mutex_);
  number_ = turns_.shares_.Add(max_claims);
  if (turns_.places_.size() <= static_cast<size_t>(number_)) {
    turns_.places_.resize(number_ + 1);
  }
  turns_.places_[number_] = this;
}

Turns::Place::~Place() {
  Pass();
  MutexLock lock(turns_.mutex_);
  turns_.shares_.Remove(number_);
  turns_.places_[number_] = nullptr;
}

bool Turns::Place::Take(absl::Span<TurnClaim> claims) {
  MutexLock lock(turns_.mutex_);
  TurnShares& shares = turns_.shares_;
  shares.SetClaims(number_, claims);
  bool waits = false;
  if (has_turn_ && shares.GoesOn(number_)) {
    shares.Begin(number_);
  } else {
    shares.Ask(number_);
    if (has_turn_) turns_.TakeBack(*this);
    turns_.Give();
    waits = !has_turn_;
    turns_.waiting_ += waits ? 1 : 0;
    given_.wait(lock, [this] { return has_turn_; });
    turns_.waiting_ -= waits ? 1 : 0;
  }
  for (TurnClaim& claim : claims) claim.models = shares.models_of(claim.tenant);
  return waits;
}

void Turns::Place::EndStep(double seconds) {
  MutexLock lock(turns_.mutex_);
  turns_.shares_.End(number_, seconds);
  if (turns_.shares_.GoesOn(number_)) return;
  turns_.TakeBack(*this);
  turns_.Give();
}

void Turns::Place::Pass() {
  MutexLock lock(turns_.mutex_);
  turns_.shares_.SetClaims(number_, {});
  if (!has_turn_) return;
  turns_.TakeBack(*this);
  turns_.Give();
}

void Turns::TakeBack(Place& place) {
  place.has_turn_ = false;
  is_taken_ = false;
}

void Turns::Give() {
  if (is_taken_) return;
  const int next = shares_.Next();
  if (next < 0) return;
  shares_.Begin(next);
  is_taken_ = true;
  places_[next]->has_turn_ = true;
  places_[next]->given_.notify_one();
}

int Turns::unfinished() {
  MutexLock lock(mutex_);
  return waiting_ + (is_taken_ ? 1 : 0);
}

}  // namespace attend
