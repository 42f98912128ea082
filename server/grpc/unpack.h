#ifndef ATTEND_SERVER_GRPC_UNPACK_H_
#define ATTEND_SERVER_GRPC_UNPACK_H_

#include <grpc/slice_buffer.h>

#include <cstdint>

namespace attend {

// How a message may be compressed, as gRPC calls it.
enum class Packed { kGzip, kDeflate };

// Unpacks the whole message, and adds it to `unpacked`. False, and nothing is
// added: it is broken, or would have more than `max_bytes`; no more than these
// are ever held.
bool Unpack(const grpc_slice_buffer& packed, Packed how, int64_t max_bytes,
            grpc_slice_buffer& unpacked);

}  // namespace attend

#endif  // ATTEND_SERVER_GRPC_UNPACK_H_
