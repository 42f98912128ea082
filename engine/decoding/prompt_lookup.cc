#include "engine/decoding/prompt_lookup.h"

#include <algorithm>
#include <utility>

namespace attend {
namespace {

// A single token says too little of what follows it.
constexpr int kShortestMatch = 2;
constexpr int kLongestMatch = 8;
// See DraftPace. A draft that is refused costs the time of its rows alone.
constexpr int kCallsBetweenTrials = 16;

// The number of last tokens that both have, at most kLongestMatch.
int CommonEnd(absl::Span<const int> a, absl::Span<const int> b) {
  const size_t most = std::min<size_t>({a.size(), b.size(), kLongestMatch});
  const auto end = std::mismatch(a.rbegin(), a.rbegin() + most, b.rbegin());
  return static_cast<int>(end.first - a.rbegin());
}

}  // namespace

PromptLookup::PromptLookup(std::vector<int> source)
    : source_(std::move(source)),
      pace_({.first = kCallsBetweenTrials, .most = kCallsBetweenTrials}) {
  draft_.reserve(1 + DraftPace::kMostTokens);
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
                                          const DraftLimits& limits) {
  draft_.assign(1, tokens.back());
  const int length = pace_.Next(limits);
  if (length == 0) return draft_;
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
  pace_.Learn(accepted, static_cast<int>(draft_.size()) - 1);
}

}  // namespace attend
