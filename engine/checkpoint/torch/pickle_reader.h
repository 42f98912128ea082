#ifndef ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_READER_H_
#define ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_READER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/checkpoint/torch/pickle_value.h"

namespace attend {

// Reads a pickle of Python that holds tensors of torch, dictionaries, lists,
// tuples, numbers and texts (protocols 2 to 5). Nothing in it is run: a name of
// anything else is INVALID_ARGUMENT, which says that name. Work and memory are
// within a constant factor of `bytes`, of which there may be 16 MiB. `place`
// begins errors. The values refer to `bytes`.
absl::StatusOr<PickleValues> ReadPickle(const std::string& place,
                                        absl::Span<const uint8_t> bytes);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_TORCH_PICKLE_READER_H_
