#ifndef ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
#define ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// The types of numbers in files, little-endian. An f32 can represent each
// number of these types exactly.
enum class StorageType { kF32, kF16, kBf16 };

// Bytes of one number.
constexpr int BytesOf(StorageType type) {
  return type == StorageType::kF32 ? 4 : 2;
}

// Converts the dst.size() numbers from `src` on, exactly; infinities and NaNs
// stay. `src` may have any alignment.
void ToFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);
// The same, but adds the numbers to dst.
void AddFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);

// The index of the first number that is infinite or NaN; if all are finite, the
// count of numbers.
size_t FindNotFinite(StorageType type, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
