#include <grpc/slice.h>

#include <algorithm>

#include "absl/status/status.h"
#include "server/grpc/header_frames.h"
#include "server/grpc/header_limit.h"

// Symbols of libgrpc 1.56; the linker calls __wrap_X in place of X, and
// __real_X is X (CMakeLists.txt).
#define ATTEND_BEGIN                                                    \
  "_ZN9grpc_core11HPackParser10BeginFrameEP19grpc_metadata_batchjjNS0_" \
  "8BoundaryENS0_8PriorityENS0_7LogInfoE"
#define ATTEND_PARSE "_ZN9grpc_core11HPackParser5ParseERK10grpc_sliceb"
#define ATTEND_DESTROY "_ZN9grpc_core11HPackParserD1Ev"

namespace attend {

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
    return absl::ResourceExhaustedError("too many frames of headers");
  }
  return OriginalParse(parser, bytes, is_last);
}

void OriginalDestroy(void* parser) asm("__real_" ATTEND_DESTROY);
void DestroyHeaderParser(void* parser) asm("__wrap_" ATTEND_DESTROY);
void DestroyHeaderParser(void* parser) {
  HeaderFrames::OfProcess().Forget(parser);
  OriginalDestroy(parser);
}

}  // namespace attend
