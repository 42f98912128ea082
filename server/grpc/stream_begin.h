#ifndef ATTEND_SERVER_GRPC_STREAM_BEGIN_H_
#define ATTEND_SERVER_GRPC_STREAM_BEGIN_H_

#include <grpc/slice.h>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "server/grpc/header_frames.h"

namespace attend {

// What the functions in place of libgrpc's share, whatever its version.
// `transport` is a connection, `parser` its parser of headers.

// A stream of a server begins: `accept` makes libgrpc's. Null: there is none,
// since the connection has too many calls.
void* BeginStream(void* transport, absl::FunctionRef<void*()> accept);
// A stream goes. To be called before libgrpc takes it down, since the transport
// may go with it.
void EndStream(void* transport, void* stream);

// A frame of headers begins, on the thread of the BeginStream() of its call.
void BeginFrame(void* parser, const HeaderFrames::Frame& frame);

inline absl::string_view ViewOf(const grpc_slice& bytes) {
  return absl::string_view(
      reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(bytes)),
      GRPC_SLICE_LENGTH(bytes));
}

// A copy of the bytes for libgrpc, for as long as this is there.
class CopiedSlice {
 public:
  explicit CopiedSlice(absl::string_view bytes)
      : slice_(grpc_slice_from_copied_buffer(bytes.data(), bytes.size())) {}
  ~CopiedSlice() { grpc_slice_unref(slice_); }
  CopiedSlice(const CopiedSlice&) = delete;
  CopiedSlice& operator=(const CopiedSlice&) = delete;

  const grpc_slice& get() const { return slice_; }

 private:
  const grpc_slice slice_;
};

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_STREAM_BEGIN_H_
