#ifndef ATTEND_SERVER_GRPC_HEADER_LIMIT_H_
#define ATTEND_SERVER_GRPC_HEADER_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "engine/tensor/mutex.h"

namespace attend {

// Limits of the header blocks of one connection. gRPC before 1.53.2 limits only
// the bytes of a frame, but a block may have any number of frames
// (CVE-2023-33953). And there is no limit at all before the client has
// acknowledged the server's settings; an attacker's client never acknowledges
// them. Bytes are counted in decoded headers, with 32 bytes more for each
// header. A frame holds 16 KiB, so no client needs a second frame for 8 KiB,
// but HTTP/2 allows it.
inline constexpr uint32_t kMaxHeaderBytes = 8192;     // of the first frame
inline constexpr uint32_t kMaxContinuedBytes = 1024;  // of each other one
inline constexpr int kMaxBlockFrames = 2;
inline constexpr int kMaxUnacknowledgedFrames = 128;

// Counts the frames of header blocks, by connection. Only a connection that
// could be an attacker's takes memory. Thread-safe.
class HeaderFrames {
 public:
  // To be called when a frame begins. `ends_block`: it is the last frame of its
  // block. `acknowledged`: the client has acknowledged the settings. Returns
  // the number of bytes that the frame may have.
  uint32_t OnFrame(const void* connection, bool ends_block, bool acknowledged);
  // Whether the connection has had too many frames and should be closed.
  bool IsOverLimit(const void* connection);
  void Forget(const void* connection);

 private:
  struct Counts {
    int of_block = 0;
    int unacknowledged = 0;
  };
  Mutex mutex_;
  std::unordered_map<const void*, Counts> counts_ ABSL_GUARDED_BY(mutex_);
};

// Whether connections that exceed the limits are closed. A program that calls
// this function replaces three functions inside libgrpc 1.51, which the dynamic
// linker allows. False: libgrpc has another version, in which nothing is
// replaced.
bool LimitsHeaderBlocks();

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEADER_LIMIT_H_
