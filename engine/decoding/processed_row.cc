#include "engine/decoding/processed_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attend {
namespace {

constexpr float kNegativeInfinity = -std::numeric_limits<float>::infinity();

bool Better(const TokenScore& a, const TokenScore& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

float NanToNegativeInfinity(float score) {
  return std::isnan(score) ? kNegativeInfinity : score;
}

}  // namespace

ProcessedRow::ProcessedRow(const SearchInput& input, int max_best)
    : vocab_(input.vocab),
      processors_(input),
      renormalize_(input.params.renormalize_logits) {
  const int most = std::min(vocab_, max_best + processors_.max_edits());
  top_.reserve(most);
  best_.reserve(most + processors_.max_edits());
}

LogitsNeed ProcessedRow::Need(absl::Span<const int> tokens, int n,
                              bool normalize) {
  processors_.Update(tokens);
  if (processors_.forced() >= 0) return {};
  const absl::Span<const TokenEdit> edits = processors_.edits();
  const bool reads_edited =
      normalize && renormalize_
          ? !edits.empty()
          : std::any_of(edits.begin(), edits.end(),
                        [](const TokenEdit& edit) { return !edit.banned; });
  return {.top = std::min(vocab_, n + static_cast<int>(edits.size())),
          .tie_margin = 0,
          .log_sum_exp = false,
          .row = reads_edited};
}

void ProcessedRow::Set(const LogitsView& logits, float log_sum_exp,
                       absl::Span<const int> tokens, bool normalize) {
  logits_ = logits;
  log_sum_exp_ = log_sum_exp;
  processors_.Update(tokens);
  log_normalizer_ = normalize && renormalize_ ? LogNormalizer() : 0;
}

absl::Span<const TokenScore> ProcessedRow::Best(int n) {
  n = std::min(n, logits_.vocab());
  best_.clear();
  if (processors_.forced() >= 0) {
    BestOfForced(n);
    return best_;
  }
  const absl::Span<const TokenEdit> edits = processors_.edits();
  top_.resize(std::min<size_t>(logits_.vocab(), n + edits.size()));
  logits_.Top(absl::MakeSpan(top_));
  for (const TokenEdit& edit : edits) {
    const float score = Edited(edit);
    best_.push_back({edit.id, NanToNegativeInfinity(score - log_normalizer_)});
  }
  int unedited = 0;
  for (const TokenScore& token : top_) {
    if (unedited == n) break;
    const auto edit =
        std::lower_bound(edits.begin(), edits.end(), token.id,
                         [](const TokenEdit& e, int id) { return e.id < id; });
    if (edit != edits.end() && edit->id == token.id) continue;
    const float score = token.score - log_sum_exp_ - log_normalizer_;
    best_.push_back({token.id, NanToNegativeInfinity(score)});
    ++unedited;
  }
  // Without edits the list is sorted already.
  if (!edits.empty()) {
    std::partial_sort(best_.begin(), best_.begin() + n, best_.end(), Better);
  }
  return absl::MakeConstSpan(best_).first(n);
}

void ProcessedRow::BestOfForced(int n) {
  best_.push_back({processors_.forced(), 0});
  for (int id = 0; static_cast<int>(best_.size()) < n; ++id) {
    if (id != processors_.forced()) best_.push_back({id, kNegativeInfinity});
  }
}

void ProcessedRow::CopyAll(std::vector<TokenScore>& out) const {
  out.resize(logits_.vocab());
  if (processors_.forced() >= 0) {
    for (int id = 0; id < logits_.vocab(); ++id)
      out[id] = {id, kNegativeInfinity};
    out[processors_.forced()].score = 0;
    return;
  }
  const absl::Span<const float> row = logits_.Row();
  for (int id = 0; id < logits_.vocab(); ++id) {
    const float score = row[id] - log_sum_exp_;
    out[id] = {id, NanToNegativeInfinity(score - log_normalizer_)};
  }
  for (const TokenEdit& edit : processors_.edits()) {
    const float score = Edited(edit);
    out[edit.id].score = NanToNegativeInfinity(score - log_normalizer_);
  }
}

// log(sum(exp(processed score))) of a row that was normalised before the edits.
float ProcessedRow::LogNormalizer() const {
  if (processors_.forced() >= 0) return 0;
  const absl::Span<const TokenEdit> edits = processors_.edits();
  double removed = 0;
  float highest = 0;  // of the edited scores, if above 0
  for (const TokenEdit& edit : edits) {
    removed += std::exp(static_cast<double>(Base(edit.id)));
    highest = std::max(highest, Edited(edit));
  }
  double rest = 1 - removed;
  // 1 - removed would lose its digits: sums the other tokens instead.
  if (!(removed < 0.5)) {
    rest = 0;
    const TokenEdit* edit = edits.begin();
    for (int id = 0; id < logits_.vocab(); ++id) {
      while (edit != edits.end() && edit->id < id) ++edit;
      if (edit != edits.end() && edit->id == id) continue;
      rest += std::exp(static_cast<double>(Base(id)));
    }
  }
  double sum = rest * std::exp(-static_cast<double>(highest));
  for (const TokenEdit& edit : edits) {
    const double score = Edited(edit);
    sum += std::exp(score - highest);
  }
  // No probability is left: nothing makes the row a distribution.
  if (!(sum > 0)) return 0;
  return static_cast<float>(highest + std::log(sum));
}

}  // namespace attend
