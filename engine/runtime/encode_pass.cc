#include "engine/runtime/encode_pass.h"

#include <algorithm>
#include <optional>

#include "engine/compute/op_timer.h"
#include "engine/tensor/status_macros.h"

namespace attend {

EncodePass::EncodePass(WorkerMemory& memory, int max_source_tokens,
                       int max_rows)
    : memory_(memory),
      // The vocabulary projection, which masked tokens need, takes at most the
      // rows of a step.
      max_vectors_(std::min(kMaxHeadRows, max_rows)),
      // Room for one source of the greatest length and a step of other sources.
      buffer_(memory.transformer.encoder_kv_layout(),
              max_source_tokens + max_rows, memory.transformer.spec().hidden,
              memory.transformer.encoder_query_width()),
      head_buffer_(memory.transformer.head_width()),
      choices_(HeadChoices(memory.transformer.spec())) {
  sources_.reserve(max_rows);
  encodes_.reserve(max_rows);
  vectors_.reserve(max_vectors_);
  needs_.reserve(max_vectors_);
}

absl::Status EncodePass::Run() {
  PlanEncodes();
  if (encodes_.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(memory_.transformer.Encode(memory_.exec, memory_.activations,
                                             absl::MakeSpan(encodes_)));
  for (const HeadChoice& choice : choices_) {
    RETURN_IF_ERROR(RunHeads(choice));
  }
  for (const auto& [sequence, rows, piece] : sources_) {
    if (sequence->source()->Encoded()) sequence->source()->Finish();
  }
  return absl::OkStatus();
}

void EncodePass::PlanEncodes() {
  encodes_.clear();
  std::erase_if(sources_, [&](const SourceRows& rows) {
    const std::optional<EncodePiece> piece = rows.sequence->source()->Plan(
        buffer_, memory_.pool, rows.rows, memory_.counts);
    if (piece) encodes_.push_back(*piece);
    if (!piece) memory_.Spare(rows.piece, rows.rows);
    return !piece;
  });
}

absl::Status EncodePass::RunHeads(const HeadChoice& choice) {
  vectors_.clear();
  for (const auto& [sequence, rows, piece] : sources_) {
    EncoderTask* const task = sequence->encoder_task();
    const SourceEncode& source = *sequence->source();
    if (task == nullptr || !source.Encoded()) continue;
    for (const EncoderTask::Part& part : task->parts()) {
      if (!choice.Has(part)) continue;
      for (int i = 0; i < part.vectors; ++i) {
        vectors_.push_back({task, &part, &source.state(), i});
        if (vectors_.size() < max_vectors_) continue;
        RETURN_IF_ERROR(RunHead(choice));
        vectors_.clear();
      }
    }
  }
  return vectors_.empty() ? absl::OkStatus() : RunHead(choice);
}

absl::Status EncodePass::RunHead(const HeadChoice& choice) {
  const Transformer& transformer = memory_.transformer;
  const int rows = static_cast<int>(vectors_.size());
  const OpTimer timer({.name = "head", .rows = rows});
  const Matrix src =
      head_buffer_.rows(0, rows, WidthBefore(choice, transformer.spec()));
  ReadVectors(src);
  Matrix result = src;
  if (const Head* const head = HeadOf(transformer, choice)) {
    ASSIGN_OR_RETURN(result, head->Run(memory_.exec, head_buffer_, src));
  }
  // A model has one head: either all its vectors want logits, or none does.
  const TaskVector& first = vectors_.front();
  if (first.task->wants_logits(*first.part)) return RunLogits(result);
  for (const TaskVector& vector : vectors_) {
    const auto r = static_cast<int>(&vector - vectors_.data());
    vector.task->Take(*vector.part, vector.index, result.row(r));
  }
  return absl::OkStatus();
}

void EncodePass::ReadVectors(Matrix dst) const {
  const int rows = static_cast<int>(vectors_.size());
  const int hidden = memory_.transformer.spec().hidden;
  memory_.exec.team().Run([&](int member) {
    const Range mine = Share(rows, member, memory_.exec.team().size());
    for (int r = mine.begin; r < mine.end; ++r) {
      const auto& [task, part, state, index] = vectors_[r];
      task->Read(*state, *part, index, hidden, dst.row(r));
    }
  });
}

absl::Status EncodePass::RunLogits(Matrix src) {
  needs_.clear();
  for (const TaskVector& vector : vectors_) {
    needs_.push_back(vector.task->need(*vector.part));
  }
  RETURN_IF_ERROR(memory_.transformer.MaskedLogits(
      memory_.exec, memory_.activations, src, needs_));
  FoldLogits();
  for (size_t r = 0; r < vectors_.size(); ++r) {
    vectors_[r].task->TakeLogits(
        *vectors_[r].part, vectors_[r].index,
        memory_.activations.logits().view(static_cast<int>(r)));
  }
  return absl::OkStatus();
}

void EncodePass::FoldLogits() {
  const bool any = std::any_of(
      vectors_.begin(), vectors_.end(),
      [](const TaskVector& vector) { return vector.part->folds.has_value(); });
  if (!any) return;
  const LogitsBuffer& logits = memory_.activations.logits();
  memory_.exec.team().Run([&](int member) {
    const Range ids = Share(logits.vocab(), member, memory_.exec.team().size());
    for (size_t r = 0; r < vectors_.size(); ++r) {
      const auto& [task, part, state, index] = vectors_[r];
      if (!part->folds) continue;
      task->Fold(*part, logits.view(static_cast<int>(r)), ids);
    }
  });
}

}  // namespace attend
