#ifndef ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
#define ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// Data types in files, little-endian. F32 to BF16 are plain values, which an
// f32 represents exactly. The others are the quantised types of ggml: blocks of
// elements with a common scale (quantized_block.h).
enum class StorageType {
  kF32,
  kF16,
  kBf16,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2K,
  kQ3K,
  kQ4K,
  kQ5K,
  kQ6K,
  kIq4Nl,
  kIq4Xs,
};

// The storage unit of a type; a plain type has blocks of one element.
struct StorageBlock {
  const char* name;  // name of the type: "Q4_0"
  int numbers;
  int bytes;
};
StorageBlock BlockOf(StorageType type);
inline constexpr int kMaxBlockNumbers = 256;

// Bytes of `numbers` elements, a whole number of blocks; and the reverse.
inline size_t BytesOf(StorageType type, size_t numbers) {
  const StorageBlock block = BlockOf(type);
  return numbers / block.numbers * block.bytes;
}
inline size_t NumbersIn(StorageType type, size_t bytes) {
  const StorageBlock block = BlockOf(type);
  return bytes / block.bytes * block.numbers;
}

// Converts dst.size() elements from `src`, a whole number of blocks, to floats;
// infinities and NaNs stay. `src` may have any alignment.
void ToFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);
// As ToFloats(), but adds the values to dst.
void AddFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);

// Returns the index of the first infinite or NaN element, or of the first
// element of its block; the number of elements if all are finite.
size_t FindNotFinite(StorageType type, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
