#include "server/grpc/unpack.h"

#include <grpc/slice.h>
#include <zlib.h>

#include <cstddef>

#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

constexpr size_t kSliceBytes = 16 << 10;

// Unpacks slice after slice.
class Unpacker {
 public:
  Unpacker(Packed how, int64_t max_bytes) : max_bytes_(max_bytes) {
    grpc_slice_buffer_init(&done_);
    constexpr int kGzipHeader = 16;
    begun_ = inflateInit2(
                 &stream_,
                 MAX_WBITS + (how == Packed::kGzip ? kGzipHeader : 0)) == Z_OK;
  }
  ~Unpacker() {
    if (begun_) inflateEnd(&stream_);
    grpc_slice_buffer_destroy(&done_);
  }
  Unpacker(const Unpacker&) = delete;

  absl::Status Add(const grpc_slice& packed) {
    if (!begun_) {
      return absl::ResourceExhaustedError("there is no memory to unpack");
    }
    stream_.next_in = const_cast<Bytef*>(GRPC_SLICE_START_PTR(packed));
    stream_.avail_in = static_cast<uInt>(GRPC_SLICE_LENGTH(packed));
    // A full slice may mean that there is more.
    while (stream_.avail_in > 0 || full_) {
      if (ended_ || !AddSlice()) return Broken();
      if (static_cast<int64_t>(done_.length) > max_bytes_) {
        return absl::ResourceExhaustedError("the message is too long");
      }
    }
    return absl::OkStatus();
  }
  absl::Status End() const { return ended_ ? absl::OkStatus() : Broken(); }
  void MoveTo(grpc_slice_buffer& to) {
    grpc_slice_buffer_move_into(&done_, &to);
  }

 private:
  static absl::Status Broken() {
    return absl::InternalError("the message is broken");
  }
  // False: it is broken.
  bool AddSlice() {
    grpc_slice slice = grpc_slice_malloc(kSliceBytes);
    stream_.next_out = GRPC_SLICE_START_PTR(slice);
    stream_.avail_out = kSliceBytes;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    full_ = stream_.avail_out == 0;
    ended_ = result == Z_STREAM_END;
    if (ended_) full_ = false;
    GRPC_SLICE_SET_LENGTH(slice, kSliceBytes - stream_.avail_out);
    grpc_slice_buffer_add(&done_, slice);
    // Without input there is nothing to be had: no error.
    return result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR;
  }

  const int64_t max_bytes_;
  z_stream stream_ = {};
  bool begun_ = false;
  bool full_ = false;   // the last slice
  bool ended_ = false;  // the packed stream
  grpc_slice_buffer done_;
};

}  // namespace

absl::Status Unpack(const grpc_slice_buffer& packed, Packed how,
                    int64_t max_bytes, grpc_slice_buffer& unpacked) {
  Unpacker unpacker(how, max_bytes);
  for (size_t i = 0; i < packed.count; ++i) {
    RETURN_IF_ERROR(unpacker.Add(packed.slices[i]));
  }
  RETURN_IF_ERROR(unpacker.End());
  unpacker.MoveTo(unpacked);
  return absl::OkStatus();
}

}  // namespace attend
