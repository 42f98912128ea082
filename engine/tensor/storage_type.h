#ifndef ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
#define ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// The types of numbers in files, little-endian. F32 to BF16 are plain numbers,
// each of which an f32 can represent exactly. The others are the quantised
// types of ggml: blocks of numbers with a common scale (quantized_block.h).
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

// What a type's numbers are stored in; a plain number is a block of one.
struct StorageBlock {
  const char* name;  // of the type: "Q4_0"
  int numbers;
  int bytes;
};
StorageBlock BlockOf(StorageType type);
inline constexpr int kMaxBlockNumbers = 256;

// Bytes of `numbers` numbers, which are whole blocks; and the reverse.
inline size_t BytesOf(StorageType type, size_t numbers) {
  const StorageBlock block = BlockOf(type);
  return numbers / block.numbers * block.bytes;
}
inline size_t NumbersIn(StorageType type, size_t bytes) {
  const StorageBlock block = BlockOf(type);
  return bytes / block.bytes * block.numbers;
}

// Converts the dst.size() numbers from `src` on, which are whole blocks, to the
// floats that they stand for; infinities and NaNs stay. `src` may have any
// alignment.
void ToFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);
// The same, but adds the numbers to dst.
void AddFloats(StorageType type, const uint8_t* src, absl::Span<float> dst);

// The index of the first number that is infinite or NaN, or of the first number
// of its block; if all are finite, the count of numbers.
size_t FindNotFinite(StorageType type, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_STORAGE_TYPE_H_
