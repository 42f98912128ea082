#include "engine/runtime/transformer_context.h"

#include <algorithm>

#include "engine/compute/op_timer.h"
#include "engine/runtime/drafter.h"
#include "engine/runtime/transformer_sequence.h"
#include "engine/tensor/check.h"
#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {
namespace {

// The most rows of a step with drafted tokens, and without them: where more
// sequences run, their rows fill the step (8 chats were 10 % slower).
constexpr int kDraftedStepRows = 16;
constexpr int kMostPlannedRows = 4;
static_assert(kMostPlannedRows <= Drafter::kMostDrafts);
// A step of one row takes as long as so many rows more in a larger step: most
// of its time goes to reading the weights (6 to 9 of SmolLM2-135M on two cores;
// what a draft costs besides is counted as half of it).
constexpr float kRowsWorthTheWeights = 3;

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
                                       const EngineOptions& options,
                                       const DraftModel* draft)
    : memory_{.transformer = transformer,
              .exec = ExecContext(compute, transformer.primitives()),
              .pool = BlockPool(kv_layout, options.kv_cache_bytes),
              .activations =
                  Activations(transformer.spec(),
                              {.matmuls = transformer.dtype(),
                               .logits = transformer.logits_dtype()},
                              options.max_step_rows, compute.team().size())},
      // With less, a row's bits depend on how many rows it is computed with.
      drafts_((options.prompt_lookup || draft != nullptr) &&
              compute.isa() >= Isa::kAvx2),
      drafter_(draft == nullptr ? nullptr : new Drafter(*draft, compute)) {
  memory_.pool.PlaceFor(compute.team());
  const int rows = options.max_step_rows;
  memory_.spared.reserve(rows);  // a piece has one at least
  if (transformer.encodes()) {
    encode_pass_.emplace(memory_, options.max_source_tokens, rows);
  }
  if (transformer.decodes()) {
    decode_pass_.emplace(memory_, rows, drafter_.get());
  }
}

TransformerContext::~TransformerContext() = default;

absl::Status TransformerContext::Step(const StepPlan& plan) {
  memory_.exec.team().PlaceCaller();
  int rows = 0;
  for (const Piece& piece : plan.pieces) rows += piece.rows;
  const OpTimer timer({.name = "step",
                       .rows = rows,
                       .sequences = static_cast<int>(plan.pieces.size())});
  absl::Status status = CatchOutOfMemory([&] { return Run(plan); });
  // Some blocks were sealed before the step, and may not be filled.
  if (!status.ok()) memory_.pool.UnsealAll();
  return status;
}

DraftRoom TransformerContext::RoomForDrafts(const StepPlan& plan) const {
  if (!drafts_) return {};
  int rows = 0;
  int blocks = memory_.pool.free_blocks();
  for (const Piece& piece : plan.pieces) {
    rows += piece.rows;
    blocks -= piece.sequence->Next().blocks;
  }
  const float total = static_cast<float>(rows);
  return {.rows = rows <= kMostPlannedRows ? kDraftedStepRows - rows : 0,
          .blocks = std::max(blocks, 0),
          .least_accepted = total / (total + kRowsWorthTheWeights),
          .model_accepted = drafter_ == nullptr ? 0 : drafter_->accepted()};
}

absl::Status TransformerContext::Run(const StepPlan& plan) {
  for (Sequence* sequence : plan.preempted) Own(sequence).Preempt();
  if (encode_pass_) encode_pass_->Clear();
  if (decode_pass_) decode_pass_->Clear(RoomForDrafts(plan));
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
