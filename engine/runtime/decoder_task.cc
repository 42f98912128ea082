#include "engine/runtime/decoder_task.h"

#include <cstddef>

namespace attend {

absl::Span<const int> Generation::prompt(int hypothesis) const {
  const absl::Span<const int> tokens = search_->tokens(hypothesis);
  return tokens.first(tokens.size() - 1);
}

LogitsNeed Generation::need(int row) const {
  return scorer_ != nullptr ? scorer_->need() : search_->needs()[row];
}

void Generation::Take(absl::Span<const LogitsView> logits) {
  if (scorer_ == nullptr) {
    search_->Advance(logits);
    if (search_->waiting()) search_->Prepare();
    return;
  }
  scorer_->Advance(logits);
  if (scorer_->remaining() > 0) return;
  search_->SetPrompt(scorer_->TakeChoice());
  scorer_.reset();
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
