#include "server/grpc/message_limit.h"

#include <dlfcn.h>
#include <grpc/compression.h>
#include <grpc/slice_buffer.h>
#include <grpcpp/version_info.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/base/options.h"
#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "server/grpc/original.h"
#include "server/grpc/unpack.h"

// Other versions have functions of these names, too, that need not do the same.
#if !ATTEND_WRAPS_GRPC && \
    !(GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR == 51)

namespace attend {
bool LimitMessages(int) { return false; }
}  // namespace attend

#else

#define ATTEND_QUOTED(name) #name
#define ATTEND_EXPANDED(name) ATTEND_QUOTED(name)

// Symbols of libgrpc 1.51 and 1.56. A distribution's Abseil has a namespace of
// its own, whose name has 7 letters in Debian 12 and 13.
#define ATTEND_COMPLETE                                              \
  "_Z39grpc_chttp2_maybe_complete_recv_messageP21grpc_chttp2_transp" \
  "ortP18grpc_chttp2_stream"
#define ATTEND_DEFRAME                                              \
  "_Z40grpc_deframe_unprocessed_incoming_framesP18grpc_chttp2_stre" \
  "amPlPN9grpc_core11SliceBufferEPj"
#define ATTEND_UNPACK \
  "_Z19grpc_msg_decompress26grpc_compression_algorithmP17grpc_slice_bufferS1_"
#define ATTEND_CANCEL                                               \
  "_Z25grpc_chttp2_cancel_streamP21grpc_chttp2_transportP18grpc_ch" \
  "ttp2_streamN4absl7" ATTEND_EXPANDED(                             \
      ABSL_OPTION_INLINE_NAMESPACE_NAME) "6StatusE"

namespace attend {

// What libgrpc returns of a part of a message. Made and read by libgrpc only:
// it is handed on where it was made.
struct DeframedMessage {
  ~DeframedMessage() {}
  DeframedMessage(DeframedMessage&&) = delete;
  alignas(std::max_align_t) char bytes[64];
};

namespace {

// Takes what has come of a stream's message, if somebody waits for that.
using Complete = void(void* transport, void* stream);
// `missing`: the bytes of the message that are still to come.
using Deframe = DeframedMessage(void* stream, int64_t* missing, void* message,
                                uint32_t* flags);
// 1: all is unpacked.
using UnpackInto = int(grpc_compression_algorithm, grpc_slice_buffer* packed,
                       grpc_slice_buffer* unpacked);
using Cancel = void(void* transport, void* stream, absl::Status why);

std::atomic<int64_t> max_message_bytes{std::numeric_limits<int64_t>::max()};

// Null until messages are limited.
std::atomic<Cancel*> cancel{nullptr};

// Of the call of Complete() that is under way on this thread.
thread_local bool too_long = false;

absl::Status TooLong() {
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      "the request is longer than ",
      max_message_bytes.load(std::memory_order_relaxed), " bytes"));
  // Where libgrpc looks for the code that a client is told.
  status.SetPayload("type.googleapis.com/grpc.status.int.grpc_status",
                    absl::Cord("8"));
  return status;
}

// Looks at a length once libgrpc has read it.
struct LengthCheck {
  ~LengthCheck() {
    if (*missing > max_message_bytes.load(std::memory_order_relaxed)) {
      too_long = true;
    }
  }
  const int64_t* const missing;
};

}  // namespace

#if ATTEND_WRAPS_GRPC

// As in header_limit_1_56.cc. The linker has no say where libgrpc's function is
// called in the file that has it: a message that somebody begins to wait for
// when its head is there already ends its call when the next part comes.
#define ATTEND_REPLACES(symbol) "__wrap_" symbol

Complete OriginalComplete asm("__real_" ATTEND_COMPLETE);
Deframe OriginalDeframe asm("__real_" ATTEND_DEFRAME);
UnpackInto OriginalUnpack asm("__real_" ATTEND_UNPACK);
Cancel OriginalCancel asm(ATTEND_CANCEL);

bool LimitMessages(int max_bytes) {
  cancel = OriginalCancel;
  max_message_bytes = max_bytes;
  return true;
}

#else

#define ATTEND_REPLACES(symbol) symbol

namespace {

void OriginalComplete(void* transport, void* stream) {
  static auto* const original = Original<Complete>(ATTEND_COMPLETE);
  original(transport, stream);
}

DeframedMessage OriginalDeframe(void* stream, int64_t* missing, void* message,
                                uint32_t* flags) {
  static auto* const original = Original<Deframe>(ATTEND_DEFRAME);
  return original(stream, missing, message, flags);
}

int OriginalUnpack(grpc_compression_algorithm algorithm,
                   grpc_slice_buffer* packed, grpc_slice_buffer* unpacked) {
  static auto* const original = Original<UnpackInto>(ATTEND_UNPACK);
  return original(algorithm, packed, unpacked);
}

}  // namespace

bool LimitMessages(int max_bytes) {
  for (const char* symbol :
       {ATTEND_COMPLETE, ATTEND_DEFRAME, ATTEND_UNPACK, ATTEND_CANCEL}) {
    if (dlsym(RTLD_NEXT, symbol) == nullptr) return false;
  }
  cancel = Original<Cancel>(ATTEND_CANCEL);
  max_message_bytes = max_bytes;
  return true;
}

#endif  // ATTEND_WRAPS_GRPC

void CompleteMessage(void* transport,
                     void* stream) asm(ATTEND_REPLACES(ATTEND_COMPLETE));
void CompleteMessage(void* transport, void* stream) {
  const bool outer = std::exchange(too_long, false);
  OriginalComplete(transport, stream);
  // That the message is not complete means that the stream is still there.
  if (std::exchange(too_long, outer)) {
    cancel.load()(transport, stream, TooLong());
  }
}

DeframedMessage DeframeMessage(
    void* stream, int64_t* missing, void* message,
    uint32_t* flags) asm(ATTEND_REPLACES(ATTEND_DEFRAME));
DeframedMessage DeframeMessage(void* stream, int64_t* missing, void* message,
                               uint32_t* flags) {
  int64_t none = 0;
  int64_t* const known = missing == nullptr ? &none : missing;
  *known = 0;
  const LengthCheck check{known};
  return OriginalDeframe(stream, known, message, flags);
}

int UnpackMessage(
    grpc_compression_algorithm algorithm, grpc_slice_buffer* packed,
    grpc_slice_buffer* unpacked) asm(ATTEND_REPLACES(ATTEND_UNPACK));
int UnpackMessage(grpc_compression_algorithm algorithm,
                  grpc_slice_buffer* packed, grpc_slice_buffer* unpacked) {
  const bool gzip = algorithm == GRPC_COMPRESS_GZIP;
  if (!gzip && algorithm != GRPC_COMPRESS_DEFLATE) {
    return OriginalUnpack(algorithm, packed, unpacked);
  }
  return Unpack(*packed, gzip ? Packed::kGzip : Packed::kDeflate,
                max_message_bytes.load(std::memory_order_relaxed), *unpacked);
}

}  // namespace attend

#endif  // the version of gRPC
