#include "engine/decoding/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attend {
namespace {

// Tokens that are asked for beyond k, so that a few ties with the k-th are
// seen.
constexpr int kTies = 8;
// Colder is no different: the best token alone is left. Scores divided by less
// could be infinite.
constexpr float kColdest = 1e-30F;

// The order of torch's stable ascending sort, read from its end.
bool After(const TokenScore& a, const TokenScore& b) {
  return a.score != b.score ? a.score < b.score : a.id < b.id;
}

// exp(score - max), for infinite scores too.
float Weight(float score, float max) {
  return score == max ? 1 : std::exp(score - max);
}

bool HasHigherScore(const TokenScore& a, const TokenScore& b) {
  return a.score < b.score;
}

}  // namespace

Sampler::Sampler(const GenerationParams& params, int vocab)
    : temperature_(std::max(params.temperature, kColdest)),
      top_k_(params.top_k < vocab ? params.top_k : 0),
      best_(BestAsked(params, vocab)),
      top_p_(params.top_p),
      min_p_(params.min_p) {
  kept_.reserve(vocab);
}

int Sampler::BestAsked(const GenerationParams& params, int vocab) {
  if (params.top_k == 0 || params.top_k >= vocab) return 0;
  return std::min(vocab, params.top_k + kTies);
}

void Sampler::Restrict(ProcessedRow& row) {
  KeepTopK(row);
  // A token with -inf has no probability. If all tokens have -inf, the first is
  // taken.
  if (std::none_of(kept_.begin(), kept_.end(), [](const TokenScore& token) {
        return token.score > -std::numeric_limits<float>::infinity();
      })) {
    kept_.resize(1);
    kept_[0].score = 0;
  }
  if (top_p_ < 1) KeepTopP();
  Softmax();
  if (min_p_ > 0) KeepMinP();
}

void Sampler::KeepTopK(ProcessedRow& row) {
  if (top_k_ == 0) {
    row.CopyAll(kept_);
    for (TokenScore& token : kept_) token.score /= temperature_;
    return;
  }
  const absl::Span<const TokenScore> best = row.Best(best_);
  const float kth = best[top_k_ - 1].score / temperature_;
  // Fewer than k tokens have a probability.
  if (kth == -std::numeric_limits<float>::infinity()) {
    kept_.assign(best.begin(), best.begin() + top_k_);
    for (TokenScore& token : kept_) token.score /= temperature_;
    return;
  }
  // As the row was computed: all of it, or what is kept of it.
  LogitsNeed need;
  need.top = best_;
  need.tie_margin = best_ - top_k_;
  if (NeedsRow(need, best)) {
    row.CopyAll(kept_);
  } else {
    kept_.assign(best.begin(), best.end());
  }
  for (TokenScore& token : kept_) token.score /= temperature_;
  kept_.erase(std::remove_if(
                  kept_.begin(), kept_.end(),
                  [kth](const TokenScore& token) { return token.score < kth; }),
              kept_.end());
}

// Takes the best tokens from a heap until they have the probability top_p.
void Sampler::KeepTopP() {
  const float max =
      std::max_element(kept_.begin(), kept_.end(), HasHigherScore)->score;
  double sum = 0;
  for (const TokenScore& token : kept_) sum += Weight(token.score, max);
  // With the margin, a sum of exactly top_p does not depend on rounding.
  const double enough = (static_cast<double>(top_p_) - 1e-7) * sum;
  std::make_heap(kept_.begin(), kept_.end(), After);
  double taken = 0;
  auto heap_end = kept_.end();
  do {
    std::pop_heap(kept_.begin(), heap_end, After);
    --heap_end;
    taken += Weight(heap_end->score, max);
  } while (heap_end != kept_.begin() && taken < enough);
  kept_.erase(kept_.begin(), heap_end);
}

void Sampler::Softmax() {
  const float max =
      std::max_element(kept_.begin(), kept_.end(), HasHigherScore)->score;
  double sum = 0;
  for (TokenScore& token : kept_) {
    token.score = Weight(token.score, max);
    sum += token.score;
  }
  for (TokenScore& token : kept_) {
    token.score = static_cast<float>(token.score / sum);
  }
}

void Sampler::KeepMinP() {
  const float most =
      std::max_element(kept_.begin(), kept_.end(), HasHigherScore)->score;
  const float least = min_p_ * most;
  kept_.erase(std::remove_if(kept_.begin(), kept_.end(),
                             [least](const TokenScore& token) {
                               return token.score < least;
                             }),
              kept_.end());
  double sum = 0;
  for (const TokenScore& token : kept_) sum += token.score;
  for (TokenScore& token : kept_) {
    token.score = static_cast<float>(token.score / sum);
  }
}

int Sampler::Draw(double uniform) const {
  double sum = 0;
  for (const TokenScore& token : kept_) sum += token.score;
  const double target = uniform * sum;
  double cumulated = 0;
  const TokenScore* drawn = &kept_.front();
  for (const TokenScore& token : kept_) {
    if (!(token.score > 0)) continue;
    drawn = &token;
    cumulated += token.score;
    if (cumulated > target) break;
  }
  return drawn->id;
}

}  // namespace attend
