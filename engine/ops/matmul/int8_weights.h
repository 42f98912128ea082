#ifndef ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_
#define ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_

#include "absl/types/span.h"
#include "engine/ops/exec/number_group.h"

namespace attend {

// Packs the groups of `numbers` numbers as a column of a block of weights
// (number_group.h).
void PackInt8(const Int8Weights* groups, int numbers, int column, char* block);

// Adds a column of a block, spread as it is, to dst.
void AddInt8(const char* block, int column, absl::Span<float> dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_
