#ifndef ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_
#define ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/decoding/validate_params.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/ops/exec/compute_type.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/transformer/transformer.h"

namespace attend {

struct EngineOptions {
  // Rows one step computes at most. Higher: more throughput, later first
  // token, and activations take more memory.
  int max_step_rows = 1024;
  // Longest source; longer ones are refused. Memory for encodes under way
  // grows with it. 0: kEncoderTokens, or where nothing is encoded all that the
  // model has positions for.
  int max_source_tokens = 0;
  static constexpr int kEncoderTokens = 512;
  // Bytes of the KV pool, self- and cross-attention together. Lower: fewer
  // sequences at once, then preemption.
  size_t kv_cache_bytes = size_t{512} << 20;
  // Of the keys and values in the pool; none: DefaultKvType().
  std::optional<KvType> kv_cache_dtype = std::nullopt;
  // What is still in the pool is not computed again. Of a model that is a
  // decoder alone: what prompts have in common with earlier ones, and their
  // continuations (RadixAttention: Zheng et al. 2024; by blocks: vLLM). Of one
  // with an encoder: what a decoder attends to of the same source. Changes no
  // result, but for the rounding of instructions older than AVX-512.
  bool prefix_cache = true;
  // Beams or samples of one request.
  int max_beams = 32;
  // Of the matmuls; none: bf16 where the CPU multiplies it natively, else
  // f32.
  std::optional<ComputeType> dtype = std::nullopt;
  absl::Status Validate() const;
};

// What keys and values are kept in for a model that computes in `dtype`.
KvType DefaultKvType(ComputeType dtype);

// The Engine on a Transformer. Encodes of several sources, prompts and decode
// rows of a step each run as one ragged batch.
class TransformerEngine : public Engine {
 public:
  // `compute` must outlive the engine. `token_texts` is what each target id
  // adds to running text, [target vocab] if the model generates. `info` brings
  // name, family, labels and generation defaults; the rest is filled here.
  static absl::StatusOr<std::unique_ptr<TransformerEngine>> Create(
      Compute& compute, std::unique_ptr<Transformer> transformer,
      std::vector<std::string> token_texts, ModelInfo info,
      const EngineOptions& options);

  const ModelInfo& info() const override { return info_; }
  std::unique_ptr<EngineContext> NewContext() const override;
  absl::StatusOr<std::unique_ptr<Sequence>> NewSequence(
      EngineRequest request) const override;
  absl::Status Step(EngineContext& context,
                    const StepPlan& plan) const override;

 private:
  class Context;
  struct Part;
  struct Wanted;
  struct Vector;

  TransformerEngine(Compute& compute, std::unique_ptr<Transformer> transformer,
                    std::vector<std::string> token_texts, ModelInfo info,
                    const EngineOptions& options);

  absl::Status CheckIds(const char* input, absl::Span<const int> ids) const;
  absl::Status CheckSource(const SourceTokens& source) const;
  absl::Status CheckTypes(const SourceTokens& source) const;
  std::vector<int> TablePositions(const SourceTokens& source) const;
  // What an input and a task become, moved out of them.
  absl::Status MakeParts(SourceTokens& source,
                         TransformerSequence::Parts& parts) const;
  absl::Status MakeParts(Prompt& prompt,
                         TransformerSequence::Parts& parts) const;
  template <class Task>  // of an encoder
  absl::Status MakeParts(const Task& task,
                         TransformerSequence::Parts& parts) const;
  absl::Status MakeParts(GenerateTask& task,
                         TransformerSequence::Parts& parts) const;
  absl::Status MakeParts(ScoreTask& task,
                         TransformerSequence::Parts& parts) const;
  // Whether the pool has room for a sequence alone.
  absl::Status CheckBlocks(const TransformerSequence& sequence,
                           int tokens) const;
  absl::Status RunEncodes(Context& context) const;
  absl::Status RunHeads(Context& context, EncoderTask::Layers layers) const;
  absl::Status RunHead(Context& context, EncoderTask::Layers layers,
                       absl::Span<const Vector> vectors) const;
  absl::Status RunRows(Context& context) const;
  absl::Status TakeLogits(Context& context) const;
  absl::Status TakeGroup(Context& context, absl::Span<const Wanted> group,
                         int rows) const;

  Compute& compute_;
  const std::unique_ptr<Transformer> transformer_;
  const std::vector<std::string> token_texts_;  // [target vocab]
  ModelInfo info_;
  const EngineOptions options_;
  const DecodingLimits limits_;
  const KvLayout kv_layout_;
  int pool_blocks_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_
