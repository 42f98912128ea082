#ifndef ATTEND_SERVER_GRPC_HEADER_FRAMES_H_
#define ATTEND_SERVER_GRPC_HEADER_FRAMES_H_

#include <cstdint>
#include <unordered_map>

#include "engine/tensor/mutex.h"

namespace attend {

// What the header blocks of one connection may take. gRPC before 1.53.2 limits
// the bytes of a frame only, and a block has any number of frames
// (CVE-2023-33953). Later ones, too, limit neither blocks nor calls until the
// client has acknowledged their settings, which an attacker's never does.
// Bytes are those of decoded headers, and 32 more for each. Frames hold 16 KiB:
// no client needs a second one for 8 KiB, but HTTP/2 allows it.
inline constexpr uint32_t kMaxHeaderBytes = 8192;     // of the first frame
inline constexpr uint32_t kMaxContinuedBytes = 1024;  // of each other one
inline constexpr int kMaxBlockFrames = 2;
inline constexpr int kMaxUnacknowledgedFrames = 128;

// Counts the frames of header blocks, by connection. Only connections that
// could be attackers' take memory. Thread-safe.
class HeaderFrames {
 public:
  // A frame begins. `ends_block`: the block has no other after it;
  // `acknowledged`: the client has acknowledged the settings. Returns how many
  // bytes it may have.
  uint32_t OnFrame(const void* connection, bool ends_block, bool acknowledged);
  // The connection should be closed, whatever its frames are.
  void Refuse(const void* connection);
  // The connection should be closed: it has had too many frames, or is refused.
  bool IsOverLimit(const void* connection);
  void Forget(const void* connection);

  // Those of all connections of this process.
  static HeaderFrames& OfProcess();

 private:
  struct Counts {
    int of_block = 0;
    int unacknowledged = 0;
  };
  Mutex mutex_;
  std::unordered_map<const void*, Counts> counts_ ABSL_GUARDED_BY(mutex_);
};

// What libgrpc says of a frame, for its log.
struct HeaderFrameInfo {
  uint32_t stream;
  uint8_t type;
  bool is_client;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEADER_FRAMES_H_
