#ifndef ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_
#define ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_

#include <cstdint>

#include "engine/tensor/four_bit_group.h"
#include "engine/tensor/storage_type.h"

namespace attend {

// Dequantises one block to BlockOf(type).numbers floats, by ggml's reference
// arithmetic in f32. All products are exact, and so is every type without a
// minimum. `block` may have any alignment.
void DequantizeBlock(StorageType type, const uint8_t* block, float* dst);

// Returns true if the f16 scales of the block, and thus its values, are finite.
bool HasFiniteScales(StorageType type, const uint8_t* block);

// Number of groups that ReadFourBits() writes per block; 0 unless the type has
// 4 bits in groups of 32 (Q4_0, Q4_1, Q4_K).
int FourBitGroupsOf(StorageType type);
// Reads the groups of one such block. Q4_0 and Q4_1 have the values of
// DequantizeBlock(); scales and minimums of Q4_K are rounded to f16. Returns
// false if a scale or minimum exceeds f16.
bool ReadFourBits(StorageType type, const uint8_t* block, FourBitGroup* dst);

}  // namespace attend

#endif  // ATTEND_ENGINE_TENSOR_QUANTIZED_BLOCK_H_
