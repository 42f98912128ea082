#ifndef ATTEND_ENGINE_RUNTIME_TRANSFORMER_CONTEXT_H_
#define ATTEND_ENGINE_RUNTIME_TRANSFORMER_CONTEXT_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "engine/api/engine.h"
#include "engine/compute/compute.h"
#include "engine/ops/attention/kv_layout.h"
#include "engine/runtime/decode_pass.h"
#include "engine/runtime/encode_pass.h"
#include "engine/runtime/engine_options.h"
#include "engine/runtime/worker_memory.h"
#include "engine/transformer/transformer.h"

namespace attend {

class Drafter;
struct DraftModel;

// The memory and the steps of one worker. A step has two passes: over the
// decoder's rows, and over the sources to encode.
class TransformerContext final : public EngineContext {
 public:
  // `transformer`, `compute` and `draft` must outlive the context. `kv_layout`
  // is that of the pool. `draft` drafts tokens; null: no model does.
  TransformerContext(const Transformer& transformer, Compute& compute,
                     const KvLayout& kv_layout, const EngineOptions& options,
                     const DraftModel* draft);
  ~TransformerContext() override;

  absl::Status Step(const StepPlan& plan) override;

  int total_blocks() const override { return memory_.pool.total_blocks(); }
  int free_blocks() const override { return memory_.pool.free_blocks(); }
  int total_encode_rows() const override {
    return encode_pass_ ? encode_pass_->buffer().total_rows() : 0;
  }
  int free_encode_rows() const override {
    return encode_pass_ ? encode_pass_->buffer().free_rows() : 0;
  }
  StepCounts counts() const override { return memory_.counts; }
  absl::Span<const int> spared() const override { return memory_.spared; }

 private:
  absl::Status Run(const StepPlan& plan);
  DraftRoom RoomForDrafts(const StepPlan& plan) const;

  WorkerMemory memory_;
  const bool drafts_;
  const std::unique_ptr<Drafter> drafter_;  // null: without a draft model
  std::optional<EncodePass> encode_pass_;   // if there is an encoder
  std::optional<DecodePass> decode_pass_;   // if there is a decoder
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TRANSFORMER_CONTEXT_H_
