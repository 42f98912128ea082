#include "server/grpc/incoming_calls.h"

#include "absl/strings/numbers.h"

namespace attend {

void IncomingCalls::set_max_message_bytes(size_t bytes) {
  MutexLock lock(mutex_);
  max_message_bytes_ = bytes;
}

std::shared_ptr<IncomingCall> IncomingCalls::Add(const void* stream) {
  MutexLock lock(mutex_);
  auto call =
      std::make_shared<IncomingCall>(++last_number_, max_message_bytes_);
  by_stream_[stream] = call;
  by_number_[call->number()] = call;
  return call;
}

std::shared_ptr<IncomingCall> IncomingCalls::OfStream(
    const void* stream) const {
  MutexLock lock(mutex_);
  const auto found = by_stream_.find(stream);
  return found == by_stream_.end() ? nullptr : found->second;
}

std::shared_ptr<IncomingCall> IncomingCalls::OfNumber(
    absl::string_view number) const {
  uint64_t value = 0;
  if (!absl::SimpleAtoi(number, &value)) return nullptr;
  MutexLock lock(mutex_);
  const auto found = by_number_.find(value);
  return found == by_number_.end() ? nullptr : found->second;
}

void IncomingCalls::Remove(const void* stream) {
  MutexLock lock(mutex_);
  const auto found = by_stream_.find(stream);
  if (found == by_stream_.end()) return;
  by_number_.erase(found->second->number());
  by_stream_.erase(found);
}

IncomingCalls& IncomingCalls::OfProcess() {
  static auto* const calls = new IncomingCalls;  // outlives gRPC's threads
  return *calls;
}

}  // namespace attend
