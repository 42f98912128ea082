#include <dlfcn.h>
#include <grpc/slice.h>

#include <utility>

#include "absl/status/status.h"
#include "server/grpc/accepted_calls.h"
#include "server/grpc/header_frames.h"
#include "server/grpc/header_limit.h"
#include "server/grpc/original.h"

// Symbols of libgrpc 1.51.
#define ATTEND_BEGIN                                                   \
  "_ZN9grpc_core11HPackParser10BeginFrameEP19grpc_metadata_batchjNS0_" \
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

// Members of libgrpc's parser of headers, of which there is one a connection.
// It comes first, as `this` does.
constexpr char kBegin[] = ATTEND_BEGIN;
using Begin = void(void* parser, void* metadata, uint32_t max_bytes,
                   uint8_t boundary, uint8_t priority, HeaderFrameInfo info);
constexpr char kParse[] = ATTEND_PARSE;
using Parse = absl::Status(void* parser, const grpc_slice& bytes, bool is_last);
constexpr char kDestroy[] = ATTEND_DESTROY;
using Destroy = void(void* parser);
// A stream of a connection, which libgrpc calls a transport, begins and goes.
constexpr char kAccept[] = ATTEND_ACCEPT;
using Accept = void*(void* transport, uint32_t id);
constexpr char kDestroyStream[] = ATTEND_DESTROY_STREAM;
using DestroyStream = void(void* transport, void* stream, void* then);

// The thread has refused a stream: its header frame, which the connection's
// parser begins next, ends the connection.
thread_local bool refused = false;

}  // namespace

bool LimitsHeaderBlocks() {
  for (const char* symbol :
       {kBegin, kParse, kDestroy, kAccept, kDestroyStream}) {
    if (dlsym(RTLD_NEXT, symbol) == nullptr) return false;
  }
  return true;
}

void BeginHeaderFrame(void* parser, void* metadata, uint32_t max_bytes,
                      uint8_t boundary, uint8_t priority,
                      HeaderFrameInfo info) asm(ATTEND_BEGIN);
void BeginHeaderFrame(void* parser, void* metadata, uint32_t max_bytes,
                      uint8_t boundary, uint8_t priority,
                      HeaderFrameInfo info) {
  static auto* const original = Original<Begin>(kBegin);
  if (!info.is_client) {
    if (std::exchange(refused, false)) HeaderFrames::OfProcess().Refuse(parser);
    max_bytes = HeaderFrames::OfProcess().OnFrame(
        parser, /*ends_block=*/boundary != 0,
        /*acknowledged=*/max_bytes <= kMaxHeaderBytes);
  }
  original(parser, metadata, max_bytes, boundary, priority, info);
}

absl::Status ParseHeaders(void* parser, const grpc_slice& bytes,
                          bool is_last) asm(ATTEND_PARSE);
absl::Status ParseHeaders(void* parser, const grpc_slice& bytes, bool is_last) {
  static auto* const original = Original<Parse>(kParse);
  // An error that names no stream ends the connection.
  if (HeaderFrames::OfProcess().IsOverLimit(parser)) {
    return absl::ResourceExhaustedError("too many calls or frames of headers");
  }
  return original(parser, bytes, is_last);
}

void DestroyHeaderParser(void* parser) asm(ATTEND_DESTROY);
void DestroyHeaderParser(void* parser) {
  static auto* const original = Original<Destroy>(kDestroy);
  HeaderFrames::OfProcess().Forget(parser);
  original(parser);
}

void* AcceptStream(void* transport, uint32_t id) asm(ATTEND_ACCEPT);
void* AcceptStream(void* transport, uint32_t id) {
  static auto* const original = Original<Accept>(kAccept);
  refused = !AcceptedCalls::OfProcess().Add(transport);
  if (refused) return nullptr;
  void* const stream = original(transport, id);
  if (stream == nullptr) AcceptedCalls::OfProcess().Remove(transport);
  return stream;
}

void DestroyAcceptedStream(void* transport, void* stream,
                           void* then) asm(ATTEND_DESTROY_STREAM);
void DestroyAcceptedStream(void* transport, void* stream, void* then) {
  static auto* const original = Original<DestroyStream>(kDestroyStream);
  // First, since the transport may go with the stream.
  AcceptedCalls::OfProcess().Remove(transport);
  original(transport, stream, then);
}

}  // namespace attend
