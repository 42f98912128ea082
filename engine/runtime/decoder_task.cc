#include "engine/runtime/decoder_task.h"

#include <cstddef>

namespace attend {

absl::Span<const int> Generation::prompt(int hypothesis) const {
  const absl::Span<const int> tokens = search_->tokens(hypothesis);
  return tokens.first(tokens.size() - 1);
}

absl::Span<const int> Generation::Draft(const PromptLookup::Limits& limits) {
  if (lookup_ == nullptr || !search_->draft_need()) {
    return DecoderTask::Draft(limits);
  }
  draft_ = lookup_->Draft(search_->tokens(0), limits);
  return draft_;
}

LogitsNeed Generation::need(int row) const {
  if (scorer_ != nullptr) return scorer_->need();
  return draft_.size() > 1 ? *search_->draft_need() : search_->needs()[row];
}

void Generation::Take(absl::Span<const LogitsView> logits) {
  accepted_ = 0;
  if (scorer_ == nullptr) {
    if (draft_.size() > 1) return TakeDrafted(logits);
    search_->Advance(logits);
    if (search_->waiting()) search_->Prepare();
    return;
  }
  scorer_->Advance(logits);
  if (scorer_->remaining() > 0) return;
  search_->SetPrompt(scorer_->TakeChoice());
  scorer_.reset();
}

// The logits of a row are those that follow only if all tokens up to it do.
void Generation::TakeDrafted(absl::Span<const LogitsView> logits) {
  for (size_t row = 0; row < logits.size(); ++row) {
    search_->Advance(logits.subspan(row, 1));
    if (search_->rows() == 0 || row + 1 == draft_.size()) break;
    if (search_->tokens(0).back() != draft_[row + 1]) break;
    ++accepted_;
  }
  lookup_->Learn(accepted_);
  draft_ = {};
}

std::optional<absl::Span<const int>> Generation::parents() const {
  const size_t rows = search_->rows();
  // The logits were those of the prompt: the search has not begun.
  if (search_->parents().size() < rows) return std::nullopt;
  return search_->parents().first(rows);
}

void Scoring::Take(absl::Span<const LogitsView> logits) {
  scorer_.Advance(logits);
  if (scorer_.remaining() == 0) scorer_.SetAlignment(std::move(alignment_));
}

float* Scoring::weights_of(int token) {
  if (aligned_with_ == 0) return nullptr;
  return alignment_.data() + ptrdiff_t{token} * aligned_with_;
}

}  // namespace attend
