#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_VALUE_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_VALUE_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace attend {

// A value's index in PickleValues::values.
using PickleId = uint32_t;

enum class PickleKind : uint8_t {
  kNone,
  kBool,     // number: 0 or 1
  kInt,      // number
  kFloat,    // its value is not kept
  kString,   // text
  kTuple,    // items; a torch.Size too
  kList,     // items
  kDict,     // items: a key, its value, a key, ...
  kGlobal,   // number: index in the table of known names
  kDtype,    // of torch
  kStorage,  // number: index in PickleValues::storages
  kTensor,   // number: index in PickleValues::tensors
};

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  int64_t number = 0;
  absl::string_view text = {};  // within the bytes of the pickle
  std::vector<PickleId> items = {};
};

// Elements in a row, which tensors share. The bytes are elsewhere.
struct TorchStorage {
  absl::string_view key;    // names the bytes
  absl::string_view dtype;  // as safetensors call it: "F16"
  int element_bytes = 0;
  int64_t elements = 0;
};

// A view of a storage. Offset and strides count elements.
struct TorchTensor {
  int64_t storage = 0;  // index in PickleValues::storages
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

// All that a pickle holds. Values refer to each other by index, so that they
// may be shared, and circles do no harm.
struct PickleValues {
  std::vector<PickleValue> values;
  std::vector<TorchStorage> storages;
  std::vector<TorchTensor> tensors;
  PickleId root = 0;
  // Bytes of the pickle; others may follow it.
  size_t bytes = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_VALUE_H_
