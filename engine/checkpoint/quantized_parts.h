#ifndef ATTEND_ENGINE_CHECKPOINT_QUANTIZED_PARTS_H_
#define ATTEND_ENGINE_CHECKPOINT_QUANTIZED_PARTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/quantization.h"
#include "engine/checkpoint/tensor_source.h"

namespace attend {

// Each makes the view of a quantised matrix [out, in] from its parts, whose
// names begin with `module`, "model.layers.0.mlp.up_proj". NOT_FOUND names a
// part that is missing; INVALID_ARGUMENT names one whose dtype, shape or
// numbers do not go with the others or with the quantization. The checkpoint
// must outlive the view.

// The rows of qweight [in, out / 8] have 8 numbers to a word, at places of
// their own; those of qzeros [groups, out / 8], too. scales [groups, out].
absl::StatusOr<TensorView> AwqView(const Checkpoint& checkpoint,
                                   const Quantization& quantization,
                                   const std::string& module);

// The columns of qweight [in * bits / 32, out] are in words, and the rows of
// qzeros [groups, out * bits / 32]. scales [groups, out]. g_idx [in] has the
// group of each input; without it groups are equal.
absl::StatusOr<TensorView> GptqView(const Checkpoint& checkpoint,
                                    const Quantization& quantization,
                                    const std::string& module);

// The rows of weight_packed [out, in * bits / 32] are in words, and the columns
// of weight_zero_point [out * bits / 32, groups]; without that the zero is the
// middle of the range. weight_scale [out, groups]; weight_shape is [out, in].
absl::StatusOr<TensorView> PackQuantizedView(const Checkpoint& checkpoint,
                                             const Quantization& quantization,
                                             const std::string& module);

// weight [out, in] is in int8; weight_scale has a number for each row, or one.
absl::StatusOr<TensorView> IntQuantizedView(const Checkpoint& checkpoint,
                                            const std::string& module);

// _weight_qdata [out, in] is in int8; _weight_scale has a number for each row,
// or one; _weight_zero_point has zeros alone.
absl::StatusOr<TensorView> TorchaoInt8View(const Checkpoint& checkpoint,
                                           const std::string& module);

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_QUANTIZED_PARTS_H_
