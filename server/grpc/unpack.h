#ifndef ATTEND_SERVER_GRPC_UNPACK_H_
#define ATTEND_SERVER_GRPC_UNPACK_H_

#include <grpc/slice_buffer.h>

#include <cstdint>

#include "absl/status/status.h"

namespace attend {

// How a message may be compressed, as gRPC calls it.
enum class Packed { kGzip, kDeflate };

// Unpacks the whole message, and adds it to `unpacked`. Nothing is added in
// case of an error: RESOURCE_EXHAUSTED if it would have more than `max_bytes`,
// of which no more are ever held; INTERNAL if it is broken.
absl::Status Unpack(const grpc_slice_buffer& packed, Packed how,
                    int64_t max_bytes, grpc_slice_buffer& unpacked);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_UNPACK_H_
