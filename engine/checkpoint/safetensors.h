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

// What the header of a safetensors file says of one tensor, checked.
struct SafetensorsEntry {
  std::string dtype;  // "F16"; may be one that the engine does not compute with
  std::vector<int64_t> shape;  // empty: a scalar
  size_t begin = 0;            // of its bytes, from the start of the file
  size_t end = 0;
};

// Reads the header of a whole file given as bytes: 8 bytes of little-endian
// length, that many bytes of JSON, then the tensors. INVALID_ARGUMENT names
// `path` and the tensor if anything does not fit: types, sizes that are not
// shape times dtype, places outside of the file, gaps or overlaps.
absl::StatusOr<std::map<std::string, SafetensorsEntry>> ReadSafetensorsHeader(
    const std::string& path, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_SAFETENSORS_H_
