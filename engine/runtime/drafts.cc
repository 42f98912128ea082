#include "engine/runtime/drafts.h"

#include <utility>

namespace attend {

Drafts::Drafts(std::unique_ptr<PromptLookup> lookup,
               std::unique_ptr<ModelDraft> model)
    : lookup_(std::move(lookup)), model_(std::move(model)) {}

int Drafts::Begin(absl::Span<const int> tokens, const DraftLimits& limits,
                  bool with_model) {
  BeginNone();
  if (lookup_ != nullptr) {
    found_ = lookup_->Draft(tokens, limits);
    if (found_.size() > 1) return static_cast<int>(found_.size()) - 1;
  }
  if (model_ == nullptr || !with_model) return 0;
  const int wanted = model_->Want(tokens, limits);
  by_model_ = wanted > 0;
  return wanted;
}

void Drafts::BeginNone() {
  by_model_ = false;
  found_ = {};
}

absl::Span<const int> Drafts::tokens() const {
  return by_model_ ? model_->Drafted() : found_;
}

void Drafts::Learn(int accepted) {
  if (by_model_) {
    model_->Learn(accepted);
  } else {
    lookup_->Learn(accepted);
  }
  BeginNone();
}

void Drafts::Release() {
  if (model_ != nullptr) model_->Clear();
}

}  // namespace attend
