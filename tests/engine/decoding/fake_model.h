#ifndef ATTEND_TESTS_ENGINE_DECODING_FAKE_MODEL_H_
#define ATTEND_TESTS_ENGINE_DECODING_FAKE_MODEL_H_

#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/decoding/search.h"

namespace attend {

// A row of logits of which only the facts of a LogitsNeed are known.
class AskedRow {
 public:
  AskedRow(std::vector<float> row, const LogitsNeed& need)
      : row_(std::move(row)), top_(need.top) {
    const LogitsView whole(row_);
    if (need.allowed == nullptr) {
      whole.Top(absl::MakeSpan(top_));
    } else {
      top_.resize(whole.TopAllowed(need.allowed, absl::MakeSpan(top_)));
    }
    known_ = {.vocab = whole.vocab(),
              .top = top_,
              .allowed = need.allowed,
              .log_sum_exp = std::nullopt,
              .row = {}};
    if (need.log_sum_exp) known_.log_sum_exp = whole.LogSumExp();
    if (NeedsRow(need, top_)) known_.row = row_;
  }
  LogitsView view() const { return LogitsView(known_); }

 private:
  const std::vector<float> row_;
  std::vector<TokenScore> top_;
  LogitsView::Known known_;
};

// A model whose logits are a hash of the tokens so far. It gives a search all
// that a transformer gives.
class FakeModel {
 public:
  FakeModel(int vocab, uint64_t seed, float spread = 3)
      : vocab_(vocab), seed_(seed), spread_(spread) {}

  std::vector<float> Logits(absl::Span<const int> tokens) const {
    uint64_t state = Mix(seed_);
    for (int token : tokens) state = Mix(state ^ (token + 1));
    std::vector<float> row(vocab_);
    for (float& logit : row) {
      state = Mix(state);
      logit = spread_ * (static_cast<float>(state >> 40) * 0x1p-23f - 1);
    }
    return row;
  }

  // One step of a search, as an engine does it.
  void Step(Search& search) const {
    if (search.waiting()) search.Prepare();
    std::deque<AskedRow> rows;
    std::vector<LogitsView> views;
    for (int row = 0; row < search.rows(); ++row) {
      rows.emplace_back(Logits(search.tokens(row)), search.needs()[row]);
      views.push_back(rows.back().view());
    }
    search.Advance(views);
  }

  int vocab() const { return vocab_; }

 private:
  static uint64_t Mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
  }

  int vocab_;
  uint64_t seed_;
  float spread_;
};

// The decoder tokens that a search continues in a model with an encoder.
inline std::vector<int> PromptOf(const GenerationParams& params) {
  std::vector<int> prompt = {params.decoder_start_id};
  prompt.insert(prompt.end(), params.forced_prefix.begin(),
                params.forced_prefix.end());
  return prompt;
}

// x - max - log(sum(exp(x - max))), as torch does it.
inline std::vector<float> LogSoftmax(std::vector<float> row) {
  float max = row[0];
  for (float x : row) max = std::fmax(max, x);
  double sum = 0;
  for (float x : row) sum += std::exp(static_cast<double>(x) - max);
  for (float& x : row) x = x - max - static_cast<float>(std::log(sum));
  return row;
}

}  // namespace attend

#endif  // ATTEND_TESTS_ENGINE_DECODING_FAKE_MODEL_H_
