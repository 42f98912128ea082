#ifndef ATTEND_ENGINE_TRANSFORMER_STACK_H_
#define ATTEND_ENGINE_TRANSFORMER_STACK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/checkpoint/weights.h"
#include "engine/layers/embedding.h"
#include "engine/layers/norm.h"
#include "engine/layers/relative_bias.h"
#include "engine/layers/rotary.h"
#include "engine/ops/attention/distance_tables.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/exec/primitives.h"
#include "engine/transformer/convolution.h"
#include "engine/transformer/layer.h"
#include "engine/transformer/load.h"
#include "engine/transformer/spec.h"

namespace attend {

// The layers of an encoder or a decoder, from token ids to hidden states. Const
// after loading.
struct Stack {
  Embedding embedding;
  // What layers share and point to.
  // None, one of all layers, or one of each.
  std::vector<std::unique_ptr<const RelativeBias>> relative_biases;
  std::vector<std::unique_ptr<const DistanceTables>> distances;  // by layer
  std::vector<std::unique_ptr<const Rotary>> rotaries;
  std::optional<Convolution> convolution;  // beside the first layer
  // Layers with the same weights are one object.
  std::vector<std::shared_ptr<const Layer>> layers;
  std::optional<Norm> final_norm;  // with NormPlace::kPre
};

enum class StackKind { kEncoder, kDecoder };

// Reads the slots "encoder.embedding.tokens", "encoder.0.self.q.weight" and so
// on, or those of the decoder. `spec` must be valid and must outlive the stack.
// Errors name the tensor.
absl::StatusOr<Stack> LoadStack(Primitives& primitives, Weights& weights,
                                TokenTables& tables, StackKind kind, int hidden,
                                const StackSpec& spec,
                                const LoadOptions& options);

// The layout of the keys and values of `layers` layers of the stack.
KvLayout KvLayoutOf(const StackSpec& stack, int layers, KvType dtype);

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_STACK_H_
