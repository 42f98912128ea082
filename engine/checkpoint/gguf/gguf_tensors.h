#ifndef ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_TENSORS_H_
#define ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_TENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/gguf/byte_reader.h"
#include "engine/tensor/storage_type.h"

namespace attend {

struct GgufTensor {
  StorageType type = StorageType::kF32;
  std::vector<int64_t> shape;  // rows first; a file has them in reverse order
  size_t begin = 0;            // offset of the first byte in the file
  size_t bytes = 0;
};

// Reads the `count` descriptions of tensors after the metadata of a GGUF file,
// by name. The tensors' bytes begin at the next multiple of `alignment` after
// the descriptions, and each follows the one before it at the next multiple.
// INVALID_ARGUMENT names the file, the tensor and the place: a name that occurs
// twice, a shape with a product that no file has, rows that are not whole
// blocks, a type that is not read (IQ2_XS), another offset, or bytes beyond the
// end of the file.
inline constexpr uint64_t kMaxTensors = 1 << 16;
absl::StatusOr<std::map<std::string, GgufTensor, std::less<>>> ReadGgufTensors(
    ByteReader& reader, uint64_t count, uint64_t alignment);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_GGUF_GGUF_TENSORS_H_
