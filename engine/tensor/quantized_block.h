#ifndef ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_
#define ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_

#include <cstdint>

#include "engine/tensor/storage_type.h"

namespace attend {

// Writes the BlockOf(type).numbers floats of one block of a quantised type, by
// ggml's reference arithmetic in f32. All products are exact; so is every type
// without a minimum. `block` may have any alignment.
void DequantizeBlock(StorageType type, const uint8_t* block, float* dst);

// Whether the block's scales, which are f16, are finite. Then so are its
// numbers.
bool HasFiniteScales(StorageType type, const uint8_t* block);

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_
