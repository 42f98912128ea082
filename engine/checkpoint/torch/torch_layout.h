#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_LAYOUT_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_LAYOUT_H_

#include <cstdint>

#include "absl/types/span.h"

namespace attend {

// The order in which the elements of a tensor are stored.
enum class TorchLayout {
  kRowMajor,
  kColumnMajor,  // of a matrix, which was transposed before it was saved
  kOther,        // with gaps, repeated or permuted otherwise
};

TorchLayout LayoutOf(absl::Span<const int64_t> shape,
                     absl::Span<const int64_t> strides);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_TORCH_LAYOUT_H_
