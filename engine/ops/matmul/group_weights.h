#ifndef ATTEND_ENGINE_OPS_MATMUL_GROUP_WEIGHTS_H_
#define ATTEND_ENGINE_OPS_MATMUL_GROUP_WEIGHTS_H_

#include "absl/types/span.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/tensor/four_bit_group.h"
#include "engine/tensor/row_source.h"

namespace attend {

// Rounds kGroupNumbers numbers to 4 bits so that the sum of squared errors is
// small: of some scales it takes the best, with the minimum that fits it.
FourBitGroup RoundToFourBits(const float* numbers);

// Packs rows [first, first + columns) of `weights`, as columns of a block, into
// groups of `dtype` (number_group.h): those that are stored in 4 bits as they
// are if `dtype` has 4 bits, others rounded. `floats` is memory for these rows.
// False: a number is beyond f16.
bool PackGroups(ComputeType dtype, const RowSource& weights, int first,
                Matrix floats, char* block);

// Reads a column of a block.
void ReadGroups(ComputeType dtype, const char* block, int column,
                absl::Span<float> dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_OPS_MATMUL_GROUP_WEIGHTS_H_
