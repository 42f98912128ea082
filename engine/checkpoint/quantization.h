#ifndef ATTEND_ENGINE_CHECKPOINT_QUANTIZATION_H_
#define ATTEND_ENGINE_CHECKPOINT_QUANTIZATION_H_

#include "absl/status/statusor.h"
#include "engine/json/json_file.h"

namespace attend {

// How a directory of Hugging Face stores matrices.
enum class MatrixLayout {
  kPlain,          // number by number
  kAwq,            // qweight, qzeros, scales: AutoAWQ's "gemm"
  kGptq,           // qweight, qzeros, scales, g_idx: AutoGPTQ, GPTQModel
  kPackQuantized,  // weight_packed, weight_scale: compressed-tensors
  kIntQuantized,   // an int8 weight, weight_scale: compressed-tensors
  kTorchaoInt8,    // _weight_qdata, _weight_scale, _weight_zero_point: torchao
};

struct Quantization {
  MatrixLayout layout = MatrixLayout::kPlain;
  int bits = 0;        // of a stored number: 2, 4 or 8
  int group_size = 0;  // columns with a common scale; 0: all of a row
  // Whether each stored zero is less by one than what it stands for.
  bool zeros_less_one = false;
};

// What quantization_config of config.json says. INVALID_ARGUMENT names the
// field, its value and what is expected, if matrices are stored in another way,
// or if more than matrices is quantised.
absl::StatusOr<Quantization> ReadQuantization(const JsonFile& config);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_QUANTIZATION_H_
