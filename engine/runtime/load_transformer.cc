#include "engine/runtime/load_transformer.h"

#include <utility>

#include "engine/checkpoint/weights.h"
#include "engine/runtime/model_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::StatusOr<std::unique_ptr<Transformer>> LoadTransformer(
    Compute& compute, ModelFiles& files, ComputeType dtype,
    const EngineOptions& options) {
  const TransformerSpec& spec = files.family.spec;
  Weights weights(*files.tensors, std::move(files.family.names));
  auto loaded =
      Transformer::Load(compute, spec, weights,
                        {.dtype = dtype,
                         .max_rows = options.max_step_rows,
                         .max_positions = PoolTokens(spec, dtype, options),
                         .lists_tokens = !options.shortlist.path.empty()});
  // First: what is wrong with other bytes than the file's is not its fault.
  RETURN_IF_ERROR(files.tensors->CheckUnchanged());
  ASSIGN_OR_RETURN(std::unique_ptr<Transformer> transformer, std::move(loaded));
  RETURN_IF_ERROR(weights.CheckAllRead());
  files.skipped = weights.Skipped();
  return transformer;
}

}  // namespace attend
