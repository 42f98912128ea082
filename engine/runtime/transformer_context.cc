#include "engine/runtime/transformer_context.h"

#include "engine/runtime/transformer_sequence.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// Plans have no other sequences than those that this engine made.
TransformerSequence& Own(Sequence* sequence) {
  auto* const own = dynamic_cast<TransformerSequence*>(sequence);
  ATTEND_CHECK(own != nullptr);
  return *own;
}

}  // namespace

TransformerContext::TransformerContext(const Transformer& transformer,
                                       Compute& compute,
                                       const KvLayout& kv_layout,
                                       const EngineOptions& options)
    : memory_{.transformer = transformer,
              .exec = ExecContext(compute, transformer.primitives()),
              .pool = BlockPool(kv_layout, options.kv_cache_bytes),
              .activations =
                  Activations(transformer.spec(), transformer.dtype(),
                              options.max_step_rows, compute.team().size())} {
  const int rows = options.max_step_rows;
  memory_.spared.reserve(rows);  // a piece has one at least
  if (transformer.encodes()) {
    encode_pass_.emplace(memory_, options.max_source_tokens, rows);
  }
  if (transformer.generates()) decode_pass_.emplace(memory_, rows);
}

absl::Status TransformerContext::Step(const StepPlan& plan) {
  absl::Status status = CatchOutOfMemory([&] { return Run(plan); });
  // Some blocks were sealed before the step, and may not be filled.
  if (!status.ok()) memory_.pool.UnsealAll();
  return status;
}

absl::Status TransformerContext::Run(const StepPlan& plan) {
  for (Sequence* sequence : plan.preempted) Own(sequence).Preempt();
  if (encode_pass_) encode_pass_->Clear();
  if (decode_pass_) decode_pass_->Clear();
  memory_.spared.assign(plan.pieces.size(), 0);
  int number = 0;
  for (const Piece& piece : plan.pieces) {
    const TransformerSequence& sequence = Own(piece.sequence);
    const Phase phase = sequence.Next().phase;
    ATTEND_CHECK(phase != Phase::kDone && piece.rows > 0);
    if (phase == Phase::kEncode) {
      encode_pass_->Add(sequence, piece.rows, number++);
    } else {
      decode_pass_->Add(sequence, piece.rows, number++);
    }
  }
  if (decode_pass_) RETURN_IF_ERROR(decode_pass_->Run());
  return encode_pass_ ? encode_pass_->Run() : absl::OkStatus();
}

}  // namespace attend
