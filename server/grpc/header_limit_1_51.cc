#include <dlfcn.h>
#include <grpc/slice.h>

#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "server/grpc/cancel_stream.h"
#include "server/grpc/header_frames.h"
#include "server/grpc/header_limit.h"
#include "server/grpc/original.h"
#include "server/grpc/stream_begin.h"

// Symbols of libgrpc 1.51.
#define ATTEND_BEGIN                                                   \
  "_ZN9grpc_core11HPackParser10BeginFrameEP19grpc_metadata_batchjNS0_" \
  "8BoundaryENS0_8PriorityENS0_7LogInfoE"
#define ATTEND_PARSE                                                  \
  "_Z31grpc_chttp2_header_parser_parsePvP21grpc_chttp2_transportP18g" \
  "rpc_chttp2_streamRK10grpc_slicei"
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
constexpr char kDestroy[] = ATTEND_DESTROY;
using Destroy = void(void* parser);
// Parses the bytes of a frame. Any error ends the connection.
constexpr char kParse[] = ATTEND_PARSE;
using Parse = absl::Status(void* parser, void* transport, void* stream,
                           const grpc_slice& bytes, int is_last);
// A stream of a connection, which libgrpc calls a transport, begins and goes.
constexpr char kAccept[] = ATTEND_ACCEPT;
using Accept = void*(void* transport, uint32_t id);
constexpr char kDestroyStream[] = ATTEND_DESTROY_STREAM;
using DestroyStream = void(void* transport, void* stream, void* then);

}  // namespace

bool LimitsHeaderBlocks() {
  for (const char* symbol :
       {kBegin, kParse, kDestroy, kAccept, kDestroyStream}) {
    if (dlsym(RTLD_NEXT, symbol) == nullptr) return false;
  }
  return CanCancelStreams();
}

void BeginHeaderFrame(void* parser, void* metadata, uint32_t max_bytes,
                      uint8_t boundary, uint8_t priority,
                      HeaderFrameInfo info) asm(ATTEND_BEGIN);
void BeginHeaderFrame(void* parser, void* metadata, uint32_t max_bytes,
                      uint8_t boundary, uint8_t priority,
                      HeaderFrameInfo info) {
  static auto* const original = Original<Begin>(kBegin);
  if (!info.is_client) {
    // Of a frame without a stream, which has no metadata, this libgrpc says the
    // opposite of what is true.
    const bool ends_block = (boundary != 0) != (metadata == nullptr);
    BeginFrame(parser, {.ends_block = ends_block,
                        .has_priority = priority != 0,
                        .acknowledged = max_bytes <= kMaxHeaderBytes});
    max_bytes = std::numeric_limits<uint32_t>::max();  // HeaderBlock limits
    priority = 0;
  }
  original(parser, metadata, max_bytes, boundary, priority, info);
}

absl::Status ParseHeaders(void* parser, void* transport, void* stream,
                          const grpc_slice& bytes,
                          int is_last) asm(ATTEND_PARSE);
absl::Status ParseHeaders(void* parser, void* transport, void* stream,
                          const grpc_slice& bytes, int is_last) {
  static auto* const original = Original<Parse>(kParse);
  HeaderFrames& frames = HeaderFrames::OfProcess();
  if (!frames.Knows(parser)) {
    return original(parser, transport, stream, bytes, is_last);
  }
  HeaderFrames::Read read =
      frames.OnBytes(parser, ViewOf(bytes), /*ends_frame=*/is_last != 0);
  if (!read.connection.ok()) return read.connection;
  if (!read.call.ok() && stream != nullptr) {
    CancelStream(transport, stream, std::move(read.call));
    return absl::OkStatus();
  }
  if (is_last == 0) return absl::OkStatus();
  const bool wanted = read.fields.has_value() && stream != nullptr;
  const CopiedSlice fields(wanted ? *read.fields : "");
  return original(parser, transport, stream, fields.get(), is_last);
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
  return BeginStream(transport, [&] { return original(transport, id); });
}

void DestroyAcceptedStream(void* transport, void* stream,
                           void* then) asm(ATTEND_DESTROY_STREAM);
void DestroyAcceptedStream(void* transport, void* stream, void* then) {
  static auto* const original = Original<DestroyStream>(kDestroyStream);
  EndStream(transport, stream);
  original(transport, stream, then);
}

}  // namespace attend
