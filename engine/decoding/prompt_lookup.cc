#include "engine/decoding/prompt_lookup.h"

#include <algorithm>
#include <utility>

namespace attend {
namespace {

// A single token says too little of what follows it.
constexpr int kShortestMatch = 2;
constexpr int kLongestMatch = 8;
// Where too little is accepted, one call in so many gets a draft: texts change.
constexpr int kCallsBetweenTrials = 16;
// How much the last draft counts in the share that is accepted.
constexpr float kWeightOfLast = 0.25f;

// The number of last tokens that both have, at most kLongestMatch.
int CommonEnd(absl::Span<const int> a, absl::Span<const int> b) {
  const size_t most = std::min<size_t>({a.size(), b.size(), kLongestMatch});
  const auto end = std::mismatch(a.rbegin(), a.rbegin() + most, b.rbegin());
  return static_cast<int>(end.first - a.rbegin());
}

}  // namespace

PromptLookup::PromptLookup(std::vector<int> source)
    : source_(std::move(source)) {
  draft_.reserve(1 + kMostTokens);
}

// From the end, because what stands near is likelier to come again.
void PromptLookup::Look(absl::Span<const int> in, absl::Span<const int> tokens,
                        Match& best) const {
  for (size_t end = in.size() - 1; end > 0; --end) {
    if (in[end - 1] != tokens.back()) continue;
    const int common = CommonEnd(in.first(end), tokens);
    if (common <= best.tokens) continue;
    best = {.following = in.subspan(end), .tokens = common};
    if (common == kLongestMatch) return;
  }
}

absl::Span<const int> PromptLookup::Draft(absl::Span<const int> tokens,
                                          const Limits& limits) {
  draft_.assign(1, tokens.back());
  const int length = std::min(length_, limits.most);
  if (length <= 0) return draft_;
  if (accepted_ < limits.least_accepted && ++skipped_ < kCallsBetweenTrials) {
    return draft_;
  }
  Match match = {.following = {}, .tokens = kShortestMatch - 1};
  Look(tokens, tokens, match);
  if (!source_.empty() && match.tokens < kLongestMatch) {
    Look(source_, tokens, match);
  }
  const int found = static_cast<int>(match.following.size());
  for (int i = 0; i < std::min(length, found); ++i) {
    draft_.push_back(match.following[i]);
  }
  return draft_;
}

void PromptLookup::Learn(int accepted) {
  const int drafted = static_cast<int>(draft_.size()) - 1;
  if (accepted == drafted) {
    length_ = std::min(2 * length_, kMostTokens);
  } else {
    length_ = std::max(1, (length_ + accepted) / 2);
  }
  const float share =
      static_cast<float>(accepted) / static_cast<float>(drafted);
  accepted_ += kWeightOfLast * (share - accepted_);
  skipped_ = 0;
}

}  // namespace attend
