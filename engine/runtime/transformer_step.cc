// A step of the engine: what the plan's pieces compute, and who gets it.

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "engine/runtime/transformer_context.h"
#include "engine/runtime/transformer_engine.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {

absl::Status TransformerEngine::Step(EngineContext& engine_context,
                                     const StepPlan& plan) const {
  Context& context = static_cast<Context&>(engine_context);
  for (Sequence* sequence : plan.preempted) {
    static_cast<TransformerSequence*>(sequence)->Preempt();
  }
  context.encoding.clear();
  context.computing.clear();
  for (const Piece& piece : plan.pieces) {
    const Phase phase = piece.sequence->Next().phase;
    ATTEND_CHECK(phase != Phase::kDone && piece.rows > 0);
    (phase == Phase::kEncode ? context.encoding : context.computing)
        .push_back(
            {static_cast<TransformerSequence*>(piece.sequence), piece.rows});
  }
  absl::Status status = RunRows(context);
  // Blocks may have been sealed before they were filled.
  if (!status.ok()) context.pool.UnsealAll();
  if (status.ok()) status = RunEncodes(context);
  return status;
}

absl::Status TransformerEngine::RunEncodes(Context& context) const {
  if (context.encoding.empty()) return absl::OkStatus();
  context.encodes.clear();
  std::erase_if(context.encoding, [&](const Part& part) {
    const std::optional<EncodePiece> piece = part.sequence->PlanEncode(
        *context.encode_buffer, context.pool, part.rows, context.step_counts);
    if (piece) context.encodes.push_back(*piece);
    if (!piece) context.step_counts.spared_rows += part.rows;
    return !piece;
  });
  if (context.encodes.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(transformer_->Encode(context.exec, context.activations,
                                       absl::MakeSpan(context.encodes)));
  for (const EncoderTask::Layers layers :
       {EncoderTask::Layers::kNone, EncoderTask::Layers::kEmbed,
        EncoderTask::Layers::kHead}) {
    RETURN_IF_ERROR(RunHeads(context, layers));
  }
  for (const auto& [sequence, rows] : context.encoding) {
    if (sequence->Encoded()) sequence->FinishEncode();
  }
  return absl::OkStatus();
}

absl::Status TransformerEngine::RunHeads(Context& context,
                                         EncoderTask::Layers layers) const {
  // The projection of masked tokens has room for no more than a step's rows.
  const size_t most = std::min(kMaxHeadRows, options_.max_step_rows);
  context.vectors.clear();
  for (const auto& [sequence, rows] : context.encoding) {
    const EncoderTask* const task = sequence->encoder_task();
    if (task == nullptr || task->layers() != layers || !sequence->Encoded()) {
      continue;
    }
    for (int i = 0; i < task->vectors(); ++i) {
      context.vectors.push_back({sequence, i});
      if (context.vectors.size() < most) continue;
      RETURN_IF_ERROR(RunHead(context, layers, context.vectors));
      context.vectors.clear();
    }
  }
  if (context.vectors.empty()) return absl::OkStatus();
  return RunHead(context, layers, context.vectors);
}

absl::Status TransformerEngine::RunHead(
    Context& context, EncoderTask::Layers layers,
    absl::Span<const Vector> vectors) const {
  const int rows = static_cast<int>(vectors.size());
  const int hidden = transformer_->spec().hidden;
  const Matrix src = context.head_buffer.rows(0, rows, hidden);
  context.exec.team().Run([&](int member) {
    const Range mine = Share(rows, member, context.exec.team().size());
    for (int r = mine.begin; r < mine.end; ++r) {
      const auto [sequence, index] = vectors[r];
      sequence->encoder_task()->Read(sequence->encode(), index, hidden,
                                     src.row(r));
    }
  });
  Matrix result = src;
  if (layers == EncoderTask::Layers::kEmbed) {
    ASSIGN_OR_RETURN(result, transformer_->embed().Run(
                                 context.exec, context.head_buffer, src));
  } else if (layers == EncoderTask::Layers::kHead) {
    ASSIGN_OR_RETURN(result, transformer_->head().Run(
                                 context.exec, context.head_buffer, src));
  }
  // A model has one head, so either all ask for logits or none does.
  const bool logits = vectors.front().sequence->encoder_task()->wants_logits();
  if (logits) {
    context.needs.clear();
    for (const Vector& vector : vectors) {
      context.needs.push_back(vector.sequence->encoder_task()->need());
    }
    RETURN_IF_ERROR(transformer_->MaskedLogits(
        context.exec, context.activations, result, context.needs));
  }
  for (int r = 0; r < rows; ++r) {
    const auto [sequence, index] = vectors[r];
    EncoderTask& task = *sequence->encoder_task();
    if (logits) {
      task.TakeLogits(index, context.activations.logits().view(r));
    } else {
      task.Take(index, result.row(r));
    }
  }
  return absl::OkStatus();
}

absl::Status TransformerEngine::RunRows(Context& context) const {
  if (context.computing.empty()) return absl::OkStatus();
  context.ids.clear();
  context.positions.clear();
  context.lengths.clear();
  context.writes.clear();
  context.self_pieces.clear();
  context.cross_pieces.clear();
  context.wanted.clear();
  context.wanted_rows.clear();
  for (const auto& [sequence, rows] : context.computing) {
    const int begin = static_cast<int>(context.ids.size());
    const int wanted = sequence->PlanRows(context.pool, rows,
                                          {.ids = context.ids,
                                           .positions = context.positions,
                                           .lengths = context.lengths,
                                           .writes = context.writes,
                                           .self_pieces = context.self_pieces,
                                           .cross_pieces = context.cross_pieces,
                                           .counts = context.step_counts});
    const int end = static_cast<int>(context.ids.size());
    context.step_counts.spared_rows += rows - (end - begin);
    int row = end - wanted;
    while (row < end) {
      const int part = std::min(end - row, kMaxLogitsRows);
      context.wanted.push_back(
          {sequence, static_cast<int>(context.wanted_rows.size()), part});
      for (int i = 0; i < part; ++i) context.wanted_rows.push_back(row++);
    }
  }
  // Replays of hypotheses may have found all that was left of them.
  if (context.ids.empty()) return absl::OkStatus();
  ATTEND_CHECK(static_cast<int>(context.ids.size()) <= options_.max_step_rows);
  RETURN_IF_ERROR(transformer_->Decode(context.exec, context.activations,
                                       {.kv_layout = &context.pool.layout(),
                                        .ids = context.ids,
                                        .positions = context.positions,
                                        .lengths = context.lengths,
                                        .writes = context.writes,
                                        .self_pieces = context.self_pieces,
                                        .cross_pieces = context.cross_pieces}));
  for (const auto& [sequence, rows] : context.computing) sequence->Seal();
  RETURN_IF_ERROR(TakeLogits(context));
  for (const Wanted& wanted : context.wanted) wanted.sequence->FinishRows();
  return absl::OkStatus();
}

absl::Status TransformerEngine::TakeLogits(Context& context) const {
  const size_t count = context.wanted.size();
  for (size_t first = 0; first < count;) {
    size_t last = first;
    int rows = 0;
    while (last < count && rows + context.wanted[last].rows <= kMaxLogitsRows) {
      rows += context.wanted[last++].rows;
    }
    RETURN_IF_ERROR(TakeGroup(
        context, absl::MakeSpan(context.wanted).subspan(first, last - first),
        rows));
    first = last;
  }
  return absl::OkStatus();
}

absl::Status TransformerEngine::TakeGroup(Context& context,
                                          absl::Span<const Wanted> group,
                                          int rows) const {
  const int first = group.front().first;
  context.needs.clear();
  for (const Wanted& wanted : group) {
    for (int row = 0; row < wanted.rows; ++row) {
      context.needs.push_back(wanted.sequence->need(row));
    }
  }
  RETURN_IF_ERROR(transformer_->Logits(
      context.exec, context.activations,
      absl::MakeSpan(context.wanted_rows).subspan(first, rows), context.needs));
  context.views.clear();
  for (int row = 0; row < rows; ++row) {
    context.views.push_back(context.activations.logits().view(row));
  }
  // Sequences cost differently: whoever is free takes the next one.
  std::atomic<size_t> next = 0;
  context.exec.team().Run([&](int) {
    for (size_t i = next++; i < group.size(); i = next++) {
      group[i].sequence->TakeLogits(
          absl::MakeConstSpan(context.views)
              .subspan(group[i].first - first, group[i].rows));
    }
  });
  return absl::OkStatus();
}

}  // namespace attend
