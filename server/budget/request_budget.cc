#include "server/budget/request_budget.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"

namespace attend {

RequestBudget::Entry::Entry(RequestBudget& all, uint64_t tenant,
                            std::function<void()> cut)
    : all_(all),
      tenant_(tenant),
      cut_(std::move(cut)),
      unlisted_({this}),
      place_(unlisted_.begin()) {}

RequestBudget::Entry::~Entry() { all_.Remove(*this); }

bool RequestBudget::Entry::Grow(size_t bytes) {
  return bytes == 0 || all_.Grow(*this, bytes);
}

RequestBytes RequestBudget::Entry::Take(size_t bytes) {
  MutexLock lock(all_.mutex_);
  // The bytes of an entry that was cut have been given back.
  bytes = std::min(bytes, bytes_);
  bytes_ -= bytes;
  if (bytes > 0 && bytes_ == 0) all_.Unlist(*this, unlisted_);
  return RequestBytes(all_, tenant_, bytes);
}

RequestBudget::~RequestBudget() {
  MutexLock lock(mutex_);
  ATTEND_CHECK(arriving_.empty() && bytes_ == 0);
}

size_t RequestBudget::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

bool RequestBudget::Grow(Entry& entry, size_t bytes) {
  std::list<Entry*> cut;
  bool fits = false;
  // Without memory for a tenant's entry there is none for its bytes, either.
  CatchOutOfMemory([&] {
    MutexLock lock(mutex_);
    fits = MakeRoom(entry, bytes, cut);
    return absl::OkStatus();
  }).IgnoreError();
  Cut(cut);
  return fits;
}

bool RequestBudget::MakeRoom(Entry& entry, size_t bytes,
                             std::list<Entry*>& cut) {
  if (entry.state_ != Entry::State::kArriving) return false;
  size_t& of_tenant = tenants_[entry.tenant_];
  of_tenant += bytes;
  bytes_ += bytes;
  // From here on nothing is allocated.
  if (entry.bytes_ == 0) arriving_.splice(arriving_.end(), entry.unlisted_);
  entry.bytes_ += bytes;
  bool fits = true;
  while (fits && (of_tenant > tenant_limit() || bytes_ > limit_)) {
    Entry* const worst =
        Oldest(of_tenant > tenant_limit() ? entry.tenant_ : Heaviest());
    fits = worst != nullptr && worst != &entry;
    if (!fits) break;
    // `of_tenant` stays: the entry itself still has bytes.
    Unlist(*worst, cut);
    worst->state_ = Entry::State::kBeingCut;
    worst->cut_bytes_ = std::exchange(worst->bytes_, 0);
    Subtract(worst->tenant_, worst->cut_bytes_);
  }
  if (fits) return true;
  entry.bytes_ -= bytes;
  if (entry.bytes_ == 0) Unlist(entry, entry.unlisted_);
  Subtract(entry.tenant_, bytes);
  return false;
}

void RequestBudget::Unlist(Entry& entry, std::list<Entry*>& to) {
  to.splice(to.end(), arriving_, entry.place_);
}

RequestBudget::Entry* RequestBudget::Oldest(uint64_t tenant) {
  for (Entry* const entry : arriving_) {
    if (entry->tenant_ == tenant) return entry;
  }
  return nullptr;
}

uint64_t RequestBudget::Heaviest() const {
  return std::max_element(
             tenants_.begin(), tenants_.end(),
             [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

// Without the lock: it may take long, and the others need not wait. An entry
// that is being cut waits in its destructor.
void RequestBudget::Cut(const std::list<Entry*>& entries) {
  for (Entry* const entry : entries) {
    CatchOutOfMemory([&] {
      if (entry->cut_) entry->cut_();
      return absl::OkStatus();
    }).IgnoreError();
    MutexLock lock(mutex_);
    entry->state_ = Entry::State::kCut;
    changed_.notify_all();
  }
}

void RequestBudget::Remove(Entry& entry) {
  size_t freed = 0;
  {
    MutexLock lock(mutex_);
    changed_.wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return entry.state_ != Entry::State::kBeingCut;
    });
    freed = entry.bytes_ + entry.cut_bytes_;
    if (entry.bytes_ > 0) {
      Unlist(entry, entry.unlisted_);
      Subtract(entry.tenant_, entry.bytes_);
    }
  }
  if (freed > 0 && freed_) freed_(freed);
}

void RequestBudget::Return(uint64_t tenant, size_t bytes) {
  if (bytes == 0) return;
  {
    MutexLock lock(mutex_);
    Subtract(tenant, bytes);
  }
  if (freed_) freed_(bytes);
}

void RequestBudget::Subtract(uint64_t tenant, size_t bytes) {
  bytes_ -= bytes;
  const auto found = tenants_.find(tenant);
  found->second -= bytes;
  if (found->second == 0) tenants_.erase(found);
}

RequestBytes::RequestBytes(RequestBytes&& other) noexcept
    : budget_(std::exchange(other.budget_, nullptr)),
      tenant_(other.tenant_),
      bytes_(std::exchange(other.bytes_, 0)) {}

RequestBytes& RequestBytes::operator=(RequestBytes&& other) noexcept {
  std::swap(budget_, other.budget_);
  std::swap(tenant_, other.tenant_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

RequestBytes::~RequestBytes() {
  if (budget_ != nullptr) budget_->Return(tenant_, bytes_);
}

}  // namespace attend
