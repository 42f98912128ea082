#include "server/grpc/message_limit.h"

#include <dlfcn.h>
#include <grpc/compression.h>
#include <grpc/slice_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/version_info.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "server/grpc/cancel_stream.h"
#include "server/grpc/incoming_calls.h"
#include "server/grpc/original.h"
#include "server/grpc/stream_begin.h"
#include "server/grpc/unpack.h"

namespace attend {
namespace {

std::atomic<int64_t> max_message_bytes{std::numeric_limits<int64_t>::max()};

// In place of messages that could not be unpacked. Nobody but UnpackMessage()
// can give a message that is at these addresses.
constexpr char kTooLongMessage[] = "a message that is too long when unpacked";
constexpr char kBrokenMessage[] = "a message that cannot be unpacked";

}  // namespace

absl::Status CheckUnpacked(const grpc::ByteBuffer& message) {
  grpc::Slice whole;
  if (!message.Valid() || !message.TrySingleSlice(&whole).ok()) {
    return absl::OkStatus();
  }
  const auto* begin = reinterpret_cast<const char*>(whole.begin());
  if (begin == kTooLongMessage) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the request has more than ", max_message_bytes.load(),
                     " bytes, the limit, when it is unpacked"));
  }
  if (begin == kBrokenMessage) {
    return absl::InternalError(
        "the request is not compressed as its grpc-encoding says, or is cut "
        "off");
  }
  return absl::OkStatus();
}

// Other versions have functions of these names, too, that need not do the same.
#if !ATTEND_WRAPS_GRPC && \
    !(GRPC_CPP_VERSION_MAJOR == 1 && GRPC_CPP_VERSION_MINOR == 51)

bool LimitMessages(int) { return false; }

#else

// Symbols of libgrpc 1.51 and 1.56.
#define ATTEND_DATA                                                            \
  "_Z29grpc_chttp2_data_parser_parsePvP21grpc_chttp2_transportP18grpc_chttp2_" \
  "streamRK10grpc_slicei"
#define ATTEND_UNPACK \
  "_Z19grpc_msg_decompress26grpc_compression_algorithmP17grpc_slice_bufferS1_"

namespace {

// Takes the bytes of a frame of messages.
using ParseData = absl::Status(void* parser, void* transport, void* stream,
                               const grpc_slice& bytes, int is_last);
// 1: all is unpacked.
using UnpackInto = int(grpc_compression_algorithm, grpc_slice_buffer* packed,
                       grpc_slice_buffer* unpacked);

}  // namespace

#if ATTEND_WRAPS_GRPC

// As in header_limit_1_56.cc.
#define ATTEND_REPLACES(symbol) "__wrap_" symbol

ParseData OriginalData asm("__real_" ATTEND_DATA);
UnpackInto OriginalUnpack asm("__real_" ATTEND_UNPACK);

#else

#define ATTEND_REPLACES(symbol) symbol

namespace {

absl::Status OriginalData(void* parser, void* transport, void* stream,
                          const grpc_slice& bytes, int is_last) {
  static auto* const original = Original<ParseData>(ATTEND_DATA);
  return original(parser, transport, stream, bytes, is_last);
}

int OriginalUnpack(grpc_compression_algorithm algorithm,
                   grpc_slice_buffer* packed, grpc_slice_buffer* unpacked) {
  static auto* const original = Original<UnpackInto>(ATTEND_UNPACK);
  return original(algorithm, packed, unpacked);
}

}  // namespace

#endif  // ATTEND_WRAPS_GRPC

bool LimitMessages(int max_bytes) {
#if !ATTEND_WRAPS_GRPC
  for (const char* symbol : {ATTEND_DATA, ATTEND_UNPACK}) {
    if (dlsym(RTLD_NEXT, symbol) == nullptr) return false;
  }
#endif
  if (!CanCancelStreams()) return false;
  max_message_bytes = max_bytes;
  IncomingCalls::OfProcess().set_max_message_bytes(max_bytes);
  return true;
}

absl::Status ParseMessageData(void* parser, void* transport, void* stream,
                              const grpc_slice& bytes,
                              int is_last) asm(ATTEND_REPLACES(ATTEND_DATA));
absl::Status ParseMessageData(void* parser, void* transport, void* stream,
                              const grpc_slice& bytes, int is_last) {
  const std::shared_ptr<IncomingCall> call =
      IncomingCalls::OfProcess().OfStream(stream);
  if (call == nullptr) {
    return OriginalData(parser, transport, stream, bytes, is_last);
  }
  const absl::Status refusal = call->OnData(ViewOf(bytes));
  if (!refusal.ok()) {
    CancelStream(transport, stream, refusal);
    return absl::OkStatus();
  }
  // libgrpc keeps all that it has read from the connection at once while it
  // keeps a part of that: 16 KiB for a byte.
  const CopiedSlice copy(ViewOf(bytes));
  return OriginalData(parser, transport, stream, copy.get(), is_last);
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
  const absl::Status status =
      Unpack(*packed, gzip ? Packed::kGzip : Packed::kDeflate,
             max_message_bytes.load(std::memory_order_relaxed), *unpacked);
  if (status.ok()) return 1;
  const char* const instead =
      absl::IsResourceExhausted(status) ? kTooLongMessage : kBrokenMessage;
  grpc_slice_buffer_add(unpacked, grpc_slice_from_static_string(instead));
  return 1;
}

#endif  // the version of gRPC

}  // namespace attend
