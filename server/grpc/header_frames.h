#ifndef ATTEND_SERVER_GRPC_HEADER_FRAMES_H_
#define ATTEND_SERVER_GRPC_HEADER_FRAMES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/tensor/mutex.h"
#include "server/grpc/header_block.h"
#include "server/grpc/incoming_call.h"

namespace attend {

// Until a client has acknowledged the server's settings, libgrpc does not limit
// its calls, and an attacker's never does.
inline constexpr int kMaxUnacknowledgedBlocks = 128;

// The frames of headers of all connections to servers, by connection.
// Thread-safe; each connection's frames come from one thread at a time.
class HeaderFrames {
 public:
  struct Frame {
    bool ends_block = false;  // the block has no other frame after it
    bool has_priority = false;
    // The client has acknowledged the settings.
    bool acknowledged = false;
  };
  // A frame begins. `call`: the one that begins with it, or null.
  void OnFrame(const void* connection, const Frame& frame,
               std::shared_ptr<IncomingCall> call);
  // The connection is a server's: it has had a frame.
  bool Knows(const void* connection);

  // What there is for libgrpc after the next bytes of the frame.
  struct Read {
    // Not OK: the connection is to be closed.
    absl::Status connection = {};
    // Not OK: the call is to be ended with this status.
    absl::Status call = {};
    // The headers of a block, which is complete, in HPACK.
    std::optional<std::string> fields = {};
  };
  Read OnBytes(const void* connection, absl::string_view bytes,
               bool ends_frame);

  // The connection is to be closed when its next bytes come.
  void Refuse(const void* connection);
  void Forget(const void* connection);

  // Those of all connections of this process.
  static HeaderFrames& OfProcess();

 private:
  struct Connection {
    HeaderBlock block;
    std::shared_ptr<IncomingCall> call;  // of the block
    int unacknowledged = 0;              // blocks
    bool refused = false;
  };
  // Null: there is none.
  Connection* Find(const void* connection);

  Mutex mutex_;
  std::unordered_map<const void*, std::unique_ptr<Connection>> connections_
      ABSL_GUARDED_BY(mutex_);
};

// What libgrpc says of a frame, for its log.
struct HeaderFrameInfo {
  uint32_t stream;
  uint8_t type;
  bool is_client;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_HEADER_FRAMES_H_
