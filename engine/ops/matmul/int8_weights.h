#ifndef ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_
#define ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_

#include "absl/types/span.h"
#include "engine/ops/matmul/operand.h"

namespace attend {

// Packs the rows of an int8 operand, at most 64, as the columns of a block of
// weights (number_group.h).
void PackInt8(const Operand& columns, char* block);

// Reads a column of a block, spread as it is.
void ReadInt8(const char* block, int column, absl::Span<float> dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_INT8_WEIGHTS_H_
