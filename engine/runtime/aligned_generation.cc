#include "engine/runtime/aligned_generation.h"

#include <cstddef>

#include "engine/tensor/out_of_memory.h"
#include "engine/tensor/status_macros.h"

namespace attend {

AlignedGeneration::AlignedGeneration(std::unique_ptr<Search> search,
                                     Drafts drafts, std::vector<int> listed,
                                     std::vector<int> prompt,
                                     int max_new_tokens, int source_tokens)
    : Generation(std::move(search), nullptr, std::move(drafts),
                 std::move(listed)),
      prompt_size_(static_cast<int>(prompt.size())),
      source_tokens_(source_tokens),
      tokens_(std::move(prompt)) {
  tokens_.reserve(prompt_size_ + max_new_tokens);
}

LogitsNeed AlignedGeneration::need(int row) const {
  if (!aligns()) return Generation::need(row);
  return {.top = 1, .listed = listed()};
}

void AlignedGeneration::Take(absl::Span<const LogitsView> logits) {
  if (!aligns()) return Generation::Take(logits);
  computed_ = true;
}

std::optional<absl::Span<const int>> AlignedGeneration::parents() const {
  return aligns() ? std::nullopt : Generation::parents();
}

float* AlignedGeneration::weights_of(int token) {
  const int index = token - (prompt_size_ - 1);  // of the token that follows
  if (!aligns() || index < 0) return nullptr;
  return choice().alignment.data() + ptrdiff_t{index} * source_tokens_;
}

absl::StatusOr<bool> AlignedGeneration::Restart() {
  if (aligns() ? !computed_ : !Generation::output().finished) return false;
  if (!aligns()) {
    output_ = TakeOutput();
    output_.finished = false;
  }
  RETURN_IF_ERROR(CatchOutOfMemory([this] {
    BeginNext();
    return absl::OkStatus();
  }));
  return true;
}

void AlignedGeneration::BeginNext() {
  computed_ = false;
  const int choices = static_cast<int>(output_.choices.size());
  do {
    ++choice_;
  } while (choice_ < choices && choice().tokens.empty());
  output_.finished = choice_ == choices;
  if (output_.finished) return;
  const std::vector<int>& result = choice().tokens;
  choice().alignment.resize(result.size() * source_tokens_);
  tokens_.resize(prompt_size_);
  tokens_.insert(tokens_.end(), result.begin(), result.end() - 1);
}

}  // namespace attend
