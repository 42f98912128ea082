#include "engine/runtime/decode_pass.h"

#include <algorithm>
#include <atomic>

#include "engine/compute/op_timer.h"
#include "engine/runtime/drafter.h"
#include "engine/tensor/check.h"
#include "engine/tensor/status_macros.h"

namespace attend {

DecodePass::DecodePass(WorkerMemory& memory, int max_rows, Drafter* drafter)
    : memory_(memory),
      max_rows_(max_rows),
      drafter_(drafter),
      batch_(max_rows),
      vectors_(memory, max_rows) {
  sequences_.reserve(max_rows);
  wanted_.reserve(max_rows);
  wanted_rows_.reserve(max_rows);
  needs_.reserve(kMaxLogitsRows);
  views_.reserve(kMaxLogitsRows);
  const auto& head = memory.transformer.spec().head;
  if (head && head->reads_decoder) {
    head_buffer_.emplace(memory.transformer.head_width());
  }
}

void DecodePass::Clear(DraftRoom room) {
  room_ = room;
  sequences_.clear();
  batch_.Clear();
  vectors_.Clear();
  wanted_.clear();
  wanted_rows_.clear();
}

absl::Status DecodePass::Run() {
  const StepCounts before = memory_.counts;
  RETURN_IF_ERROR(Draft());
  for (const SequenceRows& rows : sequences_) PlanRows(rows);
  // All planned rows may have been found in the pool.
  if (batch_.rows() > 0) RETURN_IF_ERROR(RunBatch());
  if (drafter_ == nullptr) return absl::OkStatus();
  const StepCounts& after = memory_.counts;
  drafter_->Learn(
      after.accepted_model_draft_tokens - before.accepted_model_draft_tokens,
      after.model_draft_tokens - before.model_draft_tokens);
  return absl::OkStatus();
}

absl::Status DecodePass::Draft() {
  for (const SequenceRows& rows : sequences_) {
    rows.sequence->decoder_rows()->BeginDraft(room_);
  }
  if (drafter_ == nullptr) return absl::OkStatus();
  const OpTimer timer({.name = "draft"});
  drafter_->Clear();
  for (const SequenceRows& rows : sequences_) {
    ModelDraft* const draft =
        rows.sequence->decoder_rows()->task().model_draft();
    if (draft != nullptr) drafter_->Add(*draft);
  }
  return drafter_->Run();
}

void DecodePass::PlanRows(const SequenceRows& planned) {
  const auto& [sequence, rows, piece] = planned;
  DecoderRows& decoder = *sequence->decoder_rows();
  const int first_row = batch_.rows();
  const int wanted = decoder.Plan(memory_.pool, rows, batch_, memory_.counts);
  const int added = batch_.rows() - first_row;
  memory_.Spare(piece, std::max(rows - added, 0));
  if (added > 0 && sequence->source() != nullptr) {
    sequence->source()->AddCross(first_row, batch_);
    Weigh(*sequence->source(), first_row, decoder.task());
  }
  Want(decoder, wanted);
}

void DecodePass::Weigh(const SourceEncode& source, int first_row,
                       DecoderTask& task) {
  for (int row = first_row; row < batch_.rows(); ++row) {
    float* const weights = task.weights_of(batch_.token(row));
    if (weights != nullptr) source.AddWeighed(row, weights, batch_);
  }
}

void DecodePass::Want(DecoderRows& decoder, int count) {
  const int end = batch_.rows();
  if (decoder.task().pooled_prompt() != nullptr) {
    return vectors_.Add(decoder, end - count, count);
  }
  for (int row = end - count; row < end;) {
    const int rows = std::min(end - row, kMaxLogitsRows);
    wanted_.push_back({&decoder, static_cast<int>(wanted_rows_.size()), rows});
    for (int i = 0; i < rows; ++i) wanted_rows_.push_back(row++);
  }
}

absl::Status DecodePass::RunBatch() {
  ATTEND_CHECK(batch_.rows() <= max_rows_);
  memory_.pool.FinishCopies(memory_.exec.compute());
  RETURN_IF_ERROR(memory_.transformer.Decode(
      memory_.exec, memory_.activations, batch_.View(memory_.pool.layout())));
  for (const SequenceRows& rows : sequences_) {
    rows.sequence->decoder_rows()->Seal();
  }
  RETURN_IF_ERROR(TakeResults());
  for (const WantedLogits& wanted : wanted_) {
    wanted.decoder->FollowParents(memory_.counts);
  }
  return vectors_.Run();
}

absl::Status DecodePass::TakeResults() {
  for (size_t first = 0; first < wanted_.size();) {
    size_t last = first;
    int rows = 0;
    while (last < wanted_.size() &&
           rows + wanted_[last].rows <= kMaxLogitsRows) {
      rows += wanted_[last++].rows;
    }
    const auto group = absl::MakeSpan(wanted_).subspan(first, last - first);
    RETURN_IF_ERROR(head_buffer_ ? TakeVectors(group, rows)
                                 : TakeLogits(group, rows));
    first = last;
  }
  return absl::OkStatus();
}

absl::Status DecodePass::TakeVectors(absl::Span<const WantedLogits> group,
                                     int rows) {
  static_assert(kMaxLogitsRows <= kMaxHeadRows);
  const OpTimer timer({.name = "head", .rows = rows});
  const Matrix x = memory_.activations.x({0, memory_.activations.max_rows()});
  const Matrix src = head_buffer_->rows(0, rows, x.cols);
  const int first = group.front().first;
  for (int i = 0; i < rows; ++i) {
    std::copy_n(x.row(wanted_rows_[first + i]), x.cols, src.row(i));
  }
  ASSIGN_OR_RETURN(const Matrix result, memory_.transformer.head().Run(
                                            memory_.exec, *head_buffer_, src));
  for (const WantedLogits& wanted : group) {
    for (int row = 0; row < wanted.rows; ++row) {
      wanted.decoder->TakeVector({result.row(wanted.first - first + row),
                                  static_cast<size_t>(result.cols)});
    }
  }
  return absl::OkStatus();
}

absl::Status DecodePass::TakeLogits(absl::Span<const WantedLogits> group,
                                    int rows) {
  const int first = group.front().first;
  needs_.clear();
  for (const WantedLogits& wanted : group) {
    for (int row = 0; row < wanted.rows; ++row) {
      needs_.push_back(wanted.decoder->task().need(row));
    }
  }
  RETURN_IF_ERROR(memory_.transformer.Logits(
      memory_.exec, memory_.activations,
      absl::MakeSpan(wanted_rows_).subspan(first, rows), needs_));
  views_.clear();
  for (int row = 0; row < rows; ++row) {
    views_.push_back(memory_.activations.logits().view(row));
  }
  const OpTimer timer({.name = "choose_tokens", .rows = rows});
  // Tasks take different times: a member that is free takes the next one.
  std::atomic<size_t> next = 0;
  memory_.exec.team().Run([&](int) {
    for (size_t i = next++; i < group.size(); i = next++) {
      group[i].decoder->Take(absl::MakeConstSpan(views_).subspan(
          group[i].first - first, group[i].rows));
    }
  });
  return absl::OkStatus();
}

}  // namespace attend
