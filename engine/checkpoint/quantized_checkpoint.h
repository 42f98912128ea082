#ifndef ATTEND_ENGINE_CHECKPOINT_QUANTIZED_CHECKPOINT_H_
#define ATTEND_ENGINE_CHECKPOINT_QUANTIZED_CHECKPOINT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/quantization.h"
#include "engine/checkpoint/tensor_source.h"

namespace attend {

// A checkpoint whose quantised matrices have the names that plain ones would
// have, as "model.layers.0.mlp.up_proj.weight": their views read rows from the
// parts, "model.layers.0.mlp.up_proj.qweight" and so on. Tensors without such
// parts are as they are. Const; any thread may read.
class QuantizedCheckpoint final : public TensorSource {
 public:
  // The layout is not kPlain.
  QuantizedCheckpoint(Checkpoint checkpoint, Quantization quantization);

  bool Has(absl::string_view name) const override;
  std::vector<std::string> Names() const override;
  // Errors of matrices are those of quantized_parts.h.
  absl::StatusOr<TensorView> Find(absl::string_view name) const override;
  void Drop(absl::Span<const uint8_t> bytes) const override;
  absl::Status CheckUnchanged() const override;
  const std::string& path() const override { return checkpoint_.path(); }

 private:
  const Checkpoint checkpoint_;
  const Quantization quantization_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_CHECKPOINT_QUANTIZED_CHECKPOINT_H_
