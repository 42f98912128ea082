#include "engine/runtime/draft_task.h"

#include <algorithm>

#include "engine/decoding/draft_pace.h"

namespace attend {

DraftTask::DraftTask(int max_tokens, int vocab) : vocab_(vocab) {
  tokens_.reserve(max_tokens + DraftPace::kMostTokens);
}

int DraftTask::Follow(absl::Span<const int> text) {
  const auto from = tokens_.begin() + text_;
  const size_t most = std::min(tokens_.size(), text.size());
  const auto end =
      std::mismatch(from, tokens_.begin() + most, text.begin() + text_).first;
  const auto same = static_cast<int>(end - tokens_.begin());
  tokens_.erase(end, tokens_.end());
  for (const int id : text.subspan(same)) {
    tokens_.push_back(id);
    readable_ &= id < vocab_;
  }
  text_ = static_cast<int>(text.size());
  known_ = readable_;
  return same;
}

void DraftTask::Take(absl::Span<const LogitsView> logits) {
  TokenScore best;
  logits[0].Top(absl::MakeSpan(&best, 1));
  known_ = best.id < vocab_;
  if (known_) tokens_.push_back(best.id);
}

}  // namespace attend
