#ifndef ATTEND_ENGINE_TRANSFORMER_LOAD_H_
#define ATTEND_ENGINE_TRANSFORMER_LOAD_H_

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/checkpoint/weights.h"
#include "engine/compute/range.h"
#include "engine/layers/dense.h"
#include "engine/layers/embedding.h"
#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/ops/exec/primitives.h"
#include "engine/transformer/spec.h"
#include "engine/transformer/token_tables.h"

namespace attend {

// Make layers from the slots of a checkpoint. A layer has a bias if the
// family's table lists the slot of the bias. Every listed slot must have a
// tensor. Errors name the tensor.

// What passes will be.
struct LoadOptions {
  ComputeType dtype = ComputeType::kF32;  // of matmuls
  int max_rows = 0;                       // of a pass
  // Decoder rows have positions below this: angles beyond are not computed.
  int max_positions = std::numeric_limits<int>::max();
  // Keys of encoder layers lie in pairs (KvLayout::together).
  bool paired_keys = false;
  // Whether rows may list the tokens that they choose from
  // (LogitsNeed::listed).
  bool lists_tokens = false;
  // The adapters that the model has.
  std::optional<AdaptersSpec> adapters = std::nullopt;
};

// One linear map whose outputs are those of several slots, side by side. Slot i
// has "<slot>.weight" [out[i], in] and "<slot>.bias" [out[i]]. `precise`:
// see MatMul::Create(). `lengths`: empty, or in int8 [all outputs], which
// become the lengths of the weights' rows.
absl::StatusOr<Linear> LoadLinear(Primitives& primitives, Weights& weights,
                                  const std::vector<std::string>& slots, int in,
                                  const std::vector<int>& out,
                                  const LoadOptions& options,
                                  Range precise = {},
                                  absl::Span<double> lengths = {});

// Slots "<slot>.weight" and "<slot>.bias", [size].
absl::StatusOr<Norm> LoadNorm(Weights& weights, const std::string& slot,
                              int size, const NormSpec& spec);

// Slots "<prefix>.tokens", ".positions", ".types", ".tasks", ".norm" and
// ".projection".
absl::StatusOr<Embedding> LoadEmbedding(Primitives& primitives,
                                        Weights& weights, TokenTables& tables,
                                        const std::string& prefix, int hidden,
                                        const EmbeddingSpec& spec,
                                        const LoadOptions& options);

// Slots "<prefix>.<i>", "<prefix>.<i>.residual" and "<prefix>.<i>.norm". The
// first layer reads rows of
// `in` numbers.
absl::StatusOr<std::vector<Dense>> LoadDense(
    Primitives& primitives, Weights& weights, const std::string& prefix, int in,
    const std::vector<DenseSpec>& specs, const LoadOptions& options);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_LOAD_H_
