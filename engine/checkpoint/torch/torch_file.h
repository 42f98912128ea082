#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_FILE_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/checkpoint/torch/torch_layout.h"

namespace attend {

// A tensor in a file that torch.save() wrote. All fields are checked.
struct TorchEntry {
  std::string dtype;           // as safetensors call it: "F16"
  std::vector<int64_t> shape;  // empty: a scalar
  TorchLayout layout = TorchLayout::kRowMajor;
  // The elements are in [begin, end), counted from the start of the file; of
  // kOther that is no more than where they begin.
  size_t begin = 0;
  size_t end = 0;
};

// Reads where the tensors of a file are that has a dictionary of them, or one
// with such a dictionary as its "state_dict": a zip archive, which torch writes
// since 1.6, or pickles one after the other, as before. `bytes` is the whole
// file. Nothing in it is run. Tensors may share bytes. INVALID_ARGUMENT names
// `path` and what is not as expected, and says what to do where the file is of
// another kind.
absl::StatusOr<std::map<std::string, TorchEntry>> ReadTorchFile(
    const std::string& path, absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_FILE_H_
