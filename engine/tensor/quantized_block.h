#ifndef ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_
#define ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_

#include <cstdint>

#include "engine/tensor/four_bit_group.h"
#include "engine/tensor/storage_type.h"

namespace attend {

// Writes the BlockOf(type).numbers floats of one block of a quantised type, by
// ggml's reference arithmetic in f32. All products are exact; so is every type
// without a minimum. `block` may have any alignment.
void DequantizeBlock(StorageType type, const uint8_t* block, float* dst);

// Whether the block's scales, which are f16, are finite. Then so are its
// numbers.
bool HasFiniteScales(StorageType type, const uint8_t* block);

// How many groups ReadFourBits() makes of a block; 0: the type is not one of 4
// bits in groups of 32 (Q4_0, Q4_1, Q4_K).
int FourBitGroupsOf(StorageType type);
// The numbers of one such block. Of Q4_0 and Q4_1 they are those of
// DequantizeBlock(); of Q4_K scales and minimums are rounded to f16. False: a
// scale or minimum is beyond f16.
bool ReadFourBits(StorageType type, const uint8_t* block, FourBitGroup* dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_
