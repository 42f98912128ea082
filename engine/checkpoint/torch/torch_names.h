#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_NAMES_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_NAMES_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace attend {

// The meaning of a name in a pickle.
enum class TorchNameKind {
  kOrderedDict,
  kSize,              // a tuple
  kRebuildTensor,     // (storage, offset, size, stride, ...)
  kRebuildParameter,  // (tensor, ...)
  kStorageType,
  kDtype,
};

// A name that may be in a pickle.
struct TorchName {
  absl::string_view module;
  absl::string_view name;
  TorchNameKind kind;
  // The dtype of a storage type: see TorchStorage.
  absl::string_view dtype = {};
  int element_bytes = 0;
};

// All that may be.
absl::Span<const TorchName> TorchNames();

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_NAMES_H_
