#ifndef ATTEND_ENGINE_RUNTIME_DEFAULT_COMPUTE_TYPE_H_
#define ATTEND_ENGINE_RUNTIME_DEFAULT_COMPUTE_TYPE_H_

#include "engine/checkpoint/tensor_source.h"
#include "engine/compute/isa.h"
#include "engine/ops/exec/compute_type.h"

namespace attend {

// What a model is computed in if nobody says: the fastest numbers that are as
// good as the weights in the files (docs/benchmarks.md has the figures).
//
//   kInt4  where most of the weights are stored in 4 bits, which stay as they
//          are: any other numbers take more memory than the file promises
//   kInt8  where the CPU multiplies it (AVX-512 VNNI, AMX)
//   kW8    with AVX2: one row is several times as fast as in f32; with AVX-512
//          alone, many rows take up to an eighth longer
//   kF32   else: w8 has no kernel of vectors
ComputeType DefaultComputeType(const TensorSource& tensors, Isa isa);

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DEFAULT_COMPUTE_TYPE_H_
