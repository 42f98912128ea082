#include "engine/runtime/generation.h"

#include <cstddef>

namespace attend {

absl::Span<const int> Generation::prompt(int hypothesis) const {
  const absl::Span<const int> tokens = search_->tokens(hypothesis);
  return tokens.first(tokens.size() - 1);
}

// The first new token does not wait for a draft model that reads the prompt.
int Generation::BeginDraft(const DraftLimits& limits) {
  if (!search_->draft_need()) {
    drafts_.BeginNone();
    return 0;
  }
  return drafts_.Begin(search_->tokens(0), limits,
                       /*with_model=*/!output().choices[0].tokens.empty());
}

LogitsNeed Generation::need(int row) const {
  if (scorer_ != nullptr) return scorer_->need();
  LogitsNeed need = drafted() ? *search_->draft_need() : search_->needs()[row];
  need.listed = listed_;
  return need;
}

void Generation::Take(absl::Span<const LogitsView> logits) {
  accepted_ = 0;
  if (scorer_ == nullptr) {
    if (drafted()) return TakeDrafted(logits);
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
  const absl::Span<const int> draft = drafts_.tokens();
  for (size_t row = 0; row < logits.size(); ++row) {
    search_->Advance(logits.subspan(row, 1));
    if (search_->rows() == 0 || row + 1 == draft.size()) break;
    if (search_->tokens(0).back() != draft[row + 1]) break;
    ++accepted_;
  }
  drafts_.Learn(accepted_);
}

std::optional<absl::Span<const int>> Generation::parents() const {
  const size_t rows = search_->rows();
  // The logits were those of the prompt: the search has not begun.
  if (search_->parents().size() < rows) return std::nullopt;
  return search_->parents().first(rows);
}

}  // namespace attend
