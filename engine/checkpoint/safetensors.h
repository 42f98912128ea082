#ifndef ATTEND_ENGINE_CHECKPOINT_SAFETENSORS_H_
#define ATTEND_ENGINE_CHECKPOINT_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace attend {

// A tensor in the header of a safetensors file. All fields are checked.
struct SafetensorsEntry {
  std::string dtype;  // "F16"; may be a dtype that the engine cannot read
  std::vector<int64_t> shape;  // empty: a scalar
  // The tensor's bytes are [begin, end), counted from the start of the file.
  size_t begin = 0;
  size_t end = 0;
};

// Reads the header of a file; `bytes` is the whole file. A file has 8 bytes,
// the length of the header in little-endian order; then the header, in JSON;
// then the bytes of the tensors. INVALID_ARGUMENT names `path` and the tensor
// if a dtype or shape is wrong, if the bytes of a tensor are not as many as its
// shape says or not in the file, or if there are gaps or overlaps.
absl::StatusOr<std::map<std::string, SafetensorsEntry>> ReadSafetensorsHeader(
    const std::string& path, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_SAFETENSORS_H_
