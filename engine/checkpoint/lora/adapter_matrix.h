#ifndef ATTEND_ENGINE_CHECKPOINT_LORA_ADAPTER_MATRIX_H_
#define ATTEND_ENGINE_CHECKPOINT_LORA_ADAPTER_MATRIX_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "engine/checkpoint/tensor_source.h"
#include "engine/tensor/buffer.h"

namespace attend {

// Reads a matrix of an adapter [rows, cols] in f32. INVALID_ARGUMENT names the
// tensor if it is no matrix of plain numbers, or has some that are not finite.
absl::StatusOr<Buffer<float>> ReadAdapterMatrix(const TensorView& view);

// Returns [cols, rows] of a matrix [rows, cols].
Buffer<float> Transposed(const Buffer<float>& matrix, size_t rows, size_t cols);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_LORA_ADAPTER_MATRIX_H_
