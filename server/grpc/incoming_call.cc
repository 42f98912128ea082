#include "server/grpc/incoming_call.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Bytes that libgrpc keeps for a frame beside its content: the heap's header,
// its own header, and an entry of a list, which grows by half.
constexpr size_t kSliceBytes = 96;

absl::Status NoRoom(const RequestBudget& budget) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "the server has no room for the request: all that arrive together have "
      "at most ",
      budget.limit(), " bytes, those of one tenant ", budget.tenant_limit()));
}

}  // namespace

void IncomingCall::AllowCompression() {
  MutexLock lock(mutex_);
  may_compress_ = true;
}

absl::Status IncomingCall::OnData(absl::string_view bytes) {
  MutexLock lock(mutex_);
  if (refusal_.ok() && entry_ && !entry_->Grow(bytes.size() + kSliceBytes)) {
    refusal_ = NoRoom(entry_->budget());
  }
  if (refusal_.ok()) refusal_ = Follow(bytes);
  return refusal_;
}

absl::Status IncomingCall::Follow(absl::string_view bytes) {
  cost_ += kSliceBytes;
  while (!bytes.empty()) {
    size_t taken = 0;
    if (head_size_ < kHeadBytes) {
      taken = std::min(kHeadBytes - head_size_, bytes.size());
      std::copy_n(bytes.begin(), taken, head_ + head_size_);
      head_size_ += taken;
      if (head_size_ == kHeadBytes) RETURN_IF_ERROR(CheckHead());
    } else {
      taken = std::min<uint64_t>(left_, bytes.size());
      left_ -= taken;
    }
    cost_ += taken;
    bytes.remove_prefix(taken);
    if (head_size_ == kHeadBytes && left_ == 0) {
      arrived_.push_back(std::exchange(cost_, 0));
      head_size_ = 0;
    }
  }
  return absl::OkStatus();
}

// "Length-Prefixed-Message" of gRPC's protocol over HTTP/2.
absl::Status IncomingCall::CheckHead() {
  if (head_[0] > 1) {
    return absl::InternalError(
        absl::StrCat("a message begins with ", head_[0], ", must be 0 or 1"));
  }
  if (head_[0] == 1 && !may_compress_) {
    return absl::InternalError(
        "a message is compressed, but grpc-encoding is absent or identity");
  }
  length_ = 0;
  for (size_t i = 1; i < kHeadBytes; ++i) length_ = length_ << 8 | head_[i];
  left_ = length_;
  return CheckLength();
}

absl::Status IncomingCall::CheckLength() const {
  if (length_ <= max_message_bytes_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "request has ", length_, " bytes, limit is ", max_message_bytes_));
}

absl::Status IncomingCall::Accept(Terms terms) {
  MutexLock lock(mutex_);
  if (terms.max_message_bytes) max_message_bytes_ = *terms.max_message_bytes;
  // Messages that have arrived already have been looked at by their reader.
  if (refusal_.ok() && head_size_ == kHeadBytes) refusal_ = CheckLength();
  if (!refusal_.ok()) return refusal_;
  entry_.emplace(terms.budget, terms.tenant, std::move(terms.cut));
  if (!entry_->Grow(std::accumulate(arrived_.begin(), arrived_.end(), cost_))) {
    refusal_ = NoRoom(terms.budget);
  }
  return refusal_;
}

absl::StatusOr<RequestBytes> IncomingCall::TakeMessage(size_t size) {
  MutexLock lock(mutex_);
  if (arrived_.empty() || !entry_) return RequestBytes();
  const size_t cost = arrived_.front();
  arrived_.pop_front();
  if (size > cost && !entry_->Grow(size - cost)) {
    refusal_ = NoRoom(entry_->budget());
    return refusal_;
  }
  return entry_->Take(std::max(size, cost));
}

absl::Status IncomingCall::RefuseCut() {
  MutexLock lock(mutex_);
  if (refusal_.ok() && entry_) refusal_ = NoRoom(entry_->budget());
  return refusal_;
}

// If the entry is being cut, waits until that has been done.
void IncomingCall::Leave() {
  MutexLock lock(mutex_);
  entry_.reset();
}

absl::Status IncomingCall::refusal() const {
  MutexLock lock(mutex_);
  return refusal_;
}

}  // namespace attend
