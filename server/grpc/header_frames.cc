#include "server/grpc/header_frames.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace attend {

HeaderFrames::Connection* HeaderFrames::Find(const void* connection) {
  MutexLock lock(mutex_);
  const auto found = connections_.find(connection);
  return found == connections_.end() ? nullptr : found->second.get();
}

void HeaderFrames::OnFrame(const void* connection, const Frame& frame,
                           std::shared_ptr<IncomingCall> call) {
  Connection* known = Find(connection);
  if (known == nullptr) {
    MutexLock lock(mutex_);
    auto& added = connections_[connection];
    added = std::make_unique<Connection>();
    known = added.get();
  }
  if (known->block.complete()) {
    known->unacknowledged = frame.acknowledged ? 0 : known->unacknowledged + 1;
    known->call = std::move(call);
  }
  known->block.BeginFrame(frame.ends_block, frame.has_priority);
}

bool HeaderFrames::Knows(const void* connection) {
  return Find(connection) != nullptr;
}

HeaderFrames::Read HeaderFrames::OnBytes(const void* connection,
                                         absl::string_view bytes,
                                         bool ends_frame) {
  Connection& known = *Find(connection);
  if (known.refused || known.unacknowledged > kMaxUnacknowledgedBlocks) {
    return {.connection = absl::ResourceExhaustedError("too many calls")};
  }
  HeaderBlock& block = known.block;
  Read read = {.connection = block.Add(bytes, ends_frame)};
  if (!read.connection.ok() || !block.complete()) return read;
  read.call = block.refusal();
  if (const auto call = std::exchange(known.call, nullptr)) {
    if (block.has_encoding()) call->AllowCompression();
    block.AddField(kIncomingCallKey, absl::StrCat(call->number()));
  }
  read.fields = block.TakeFields();
  return read;
}

void HeaderFrames::Refuse(const void* connection) {
  Connection* const known = Find(connection);
  if (known != nullptr) known->refused = true;
}

void HeaderFrames::Forget(const void* connection) {
  MutexLock lock(mutex_);
  connections_.erase(connection);
}

HeaderFrames& HeaderFrames::OfProcess() {
  static auto* const frames = new HeaderFrames;  // outlives gRPC's threads
  return *frames;
}

}  // namespace attend
