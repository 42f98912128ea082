#ifndef ATTEND_ENGINE_CHECKPOINT_UNUSED_TENSORS_H_
#define ATTEND_ENGINE_CHECKPOINT_UNUSED_TENSORS_H_

#include "absl/strings/string_view.h"
#include "engine/checkpoint/weights.h"

namespace attend {

// Whether the table lists the tensor as one that is not needed.
bool IsUnused(const NameTable& names, absl::string_view tensor);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_UNUSED_TENSORS_H_
