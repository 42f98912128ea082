#ifndef ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_
#define ATTEND_ENGINE_RUNTIME_TRANSFORMER_ENGINE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/decoding/validate_params.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/runtime/engine_options.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/transformer/transformer.h"

namespace attend {

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

 private:
  TransformerEngine(Compute& compute, std::unique_ptr<Transformer> transformer,
                    std::vector<std::string> token_texts, ModelInfo info,
                    const EngineOptions& options);

  // What a task becomes, which is about `input`.
  template <class Task>  // of an encoder
  absl::StatusOr<TransformerSequence::Outcome> MakeOutcome(
      const Task& task, const EngineInput& input) const;
  absl::StatusOr<TransformerSequence::Outcome> MakeOutcome(
      const GenerateTask& task, const EngineInput& input) const;
  absl::StatusOr<TransformerSequence::Outcome> MakeOutcome(
      ScoreTask& task, const EngineInput& input) const;
  std::unique_ptr<DecoderRows> MakeRows(std::unique_ptr<DecoderTask> task,
                                        int max_hypotheses,
                                        int max_tokens) const;
  std::unique_ptr<SourceEncode> MakeSource(SourceTokens tokens,
                                           bool crosses) const;
  // Whether the pool has room for a sequence alone, whose input has `tokens`.
  absl::Status CheckBlocks(const TransformerSequence& sequence,
                           int tokens) const;

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
