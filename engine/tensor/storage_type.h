#ifndef ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
#define ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// What a file keeps numbers in, little-endian. Every one of them is an f32.
enum class StorageType { kF32, kF16, kBf16 };

// Bytes of one number.
constexpr int BytesOf(StorageType type) {
  return type == StorageType::kF32 ? 4 : 2;
}

// dst = the dst.size() numbers from `src` on, exactly, infinities and NaNs
// included. `src` may have any alignment.
void ToFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);
// The same, added to dst.
void AddFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);

// The first number of `bytes` that is infinite or NaN; their count if none is.
size_t FindNotFinite(StorageType type, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
