#ifndef ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_
#define ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_

#include "absl/types/span.h"
#include "engine/ops/exec/number_group.h"

namespace attend {

// Packs a row of weights (Int8Row) of `cols` elements as a column of a block
// (number_group.h).
void PackInt8(const void* row, int cols, int column, char* block);

// Adds a column of a block, spread as it is, to dst.
void AddInt8(const char* block, int column, absl::Span<float> dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_
