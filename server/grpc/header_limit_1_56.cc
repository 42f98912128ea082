#include <grpc/slice.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "server/grpc/accepted_calls.h"
#include "server/grpc/header_frames.h"
#include "server/grpc/header_limit.h"

// Symbols of libgrpc 1.56; the linker calls __wrap_X in place of X, and
// __real_X is X (CMakeLists.txt).
#define ATTEND_BEGIN                                                    \
  "_ZN9grpc_core11HPackParser10BeginFrameEP19grpc_metadata_batchjjNS0_" \
  "8BoundaryENS0_8PriorityENS0_7LogInfoE"
#define ATTEND_PARSE "_ZN9grpc_core11HPackParser5ParseERK10grpc_sliceb"
#define ATTEND_DESTROY "_ZN9grpc_core11HPackParserD1Ev"
#define ATTEND_ACCEPT \
  "_Z33grpc_chttp2_parsing_accept_streamP21grpc_chttp2_transportj"
#define ATTEND_DESTROY_STREAM            \
  "_Z29grpc_transport_destroy_streamP14" \
  "grpc_transportP11grpc_streamP12grpc_closure"

namespace attend {
namespace {

// The thread has refused a stream: its header frame, which the connection's
// parser begins next, ends the connection.
thread_local bool refused = false;

}  // namespace

bool LimitsHeaderBlocks() { return true; }

// Members of libgrpc's parser of headers, of which there is one a connection.
// It comes first, as `this` does.
void OriginalBegin(void* parser, void* metadata, uint32_t soft_limit,
                   uint32_t hard_limit, uint8_t boundary, uint8_t priority,
                   HeaderFrameInfo info) asm("__real_" ATTEND_BEGIN);
void BeginHeaderFrame(void* parser, void* metadata, uint32_t soft_limit,
                      uint32_t hard_limit, uint8_t boundary, uint8_t priority,
                      HeaderFrameInfo info) asm("__wrap_" ATTEND_BEGIN);
void BeginHeaderFrame(void* parser, void* metadata, uint32_t soft_limit,
                      uint32_t hard_limit, uint8_t boundary, uint8_t priority,
                      HeaderFrameInfo info) {
  if (!info.is_client) {
    if (std::exchange(refused, false)) HeaderFrames::OfProcess().Refuse(parser);
    HeaderFrames::OfProcess().OnFrame(
        parser, /*ends_block=*/boundary != 0,
        /*acknowledged=*/hard_limit <= kMaxHeaderBytes);
    // This libgrpc counts the bytes of a block, not of a frame.
    soft_limit = std::min(soft_limit, kMaxHeaderBytes);
    hard_limit = std::min(hard_limit, kMaxHeaderBytes);
  }
  OriginalBegin(parser, metadata, soft_limit, hard_limit, boundary, priority,
                info);
}

absl::Status OriginalParse(void* parser, const grpc_slice& bytes,
                           bool is_last) asm("__real_" ATTEND_PARSE);
absl::Status ParseHeaders(void* parser, const grpc_slice& bytes,
                          bool is_last) asm("__wrap_" ATTEND_PARSE);
absl::Status ParseHeaders(void* parser, const grpc_slice& bytes, bool is_last) {
  // An error that names no stream ends the connection.
  if (HeaderFrames::OfProcess().IsOverLimit(parser)) {
    return absl::ResourceExhaustedError("too many calls or frames of headers");
  }
  return OriginalParse(parser, bytes, is_last);
}

void OriginalDestroy(void* parser) asm("__real_" ATTEND_DESTROY);
void DestroyHeaderParser(void* parser) asm("__wrap_" ATTEND_DESTROY);
void DestroyHeaderParser(void* parser) {
  HeaderFrames::OfProcess().Forget(parser);
  OriginalDestroy(parser);
}

// A stream of a connection, which libgrpc calls a transport, begins and goes.
void* OriginalAccept(void* transport, uint32_t id) asm("__real_" ATTEND_ACCEPT);
void* AcceptStream(void* transport, uint32_t id) asm("__wrap_" ATTEND_ACCEPT);
void* AcceptStream(void* transport, uint32_t id) {
  refused = !AcceptedCalls::OfProcess().Add(transport);
  if (refused) return nullptr;
  void* const stream = OriginalAccept(transport, id);
  if (stream == nullptr) AcceptedCalls::OfProcess().Remove(transport);
  return stream;
}

void OriginalDestroyStream(void* transport, void* stream,
                           void* then) asm("__real_" ATTEND_DESTROY_STREAM);
void DestroyAcceptedStream(void* transport, void* stream,
                           void* then) asm("__wrap_" ATTEND_DESTROY_STREAM);
void DestroyAcceptedStream(void* transport, void* stream, void* then) {
  // First, since the transport may go with the stream.
  AcceptedCalls::OfProcess().Remove(transport);
  OriginalDestroyStream(transport, stream, then);
}

}  // namespace attend
