#include <grpc/slice.h>

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "server/grpc/cancel_stream.h"
#include "server/grpc/header_frames.h"
#include "server/grpc/header_limit.h"
#include "server/grpc/stream_begin.h"

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

bool LimitsHeaderBlocks() { return CanCancelStreams(); }

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
    BeginFrame(parser, {.ends_block = boundary != 0,
                        .has_priority = priority != 0,
                        .acknowledged = hard_limit <= kMaxHeaderBytes});
    // HeaderBlock limits.
    soft_limit = hard_limit = std::numeric_limits<uint32_t>::max();
    priority = 0;
  }
  OriginalBegin(parser, metadata, soft_limit, hard_limit, boundary, priority,
                info);
}

// An error that names a stream ends that one, any other the connection.
absl::Status OriginalParse(void* parser, const grpc_slice& bytes,
                           bool is_last) asm("__real_" ATTEND_PARSE);
absl::Status ParseHeaders(void* parser, const grpc_slice& bytes,
                          bool is_last) asm("__wrap_" ATTEND_PARSE);
absl::Status ParseHeaders(void* parser, const grpc_slice& bytes, bool is_last) {
  HeaderFrames& frames = HeaderFrames::OfProcess();
  if (!frames.Knows(parser)) return OriginalParse(parser, bytes, is_last);
  HeaderFrames::Read read =
      frames.OnBytes(parser, ViewOf(bytes), /*ends_frame=*/is_last);
  if (!read.connection.ok()) return read.connection;
  if (!read.call.ok()) return StreamError(std::move(read.call));
  if (!read.fields) return absl::OkStatus();
  const CopiedSlice fields(*read.fields);
  return OriginalParse(parser, fields.get(), is_last);
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
  return BeginStream(transport, [&] { return OriginalAccept(transport, id); });
}

void OriginalDestroyStream(void* transport, void* stream,
                           void* then) asm("__real_" ATTEND_DESTROY_STREAM);
void DestroyAcceptedStream(void* transport, void* stream,
                           void* then) asm("__wrap_" ATTEND_DESTROY_STREAM);
void DestroyAcceptedStream(void* transport, void* stream, void* then) {
  EndStream(transport, stream);
  OriginalDestroyStream(transport, stream, then);
}

}  // namespace attend
