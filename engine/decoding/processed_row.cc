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
                              const Mode& mode) {
  // What is allowed is not known yet, nor whether an end is.
  processors_.Update(tokens, mode.can_end && mode.allowed == nullptr);
  if (processors_.forced() >= 0) return {};
  const absl::Span<const TokenEdit> edits = processors_.edits();
  const bool sums = mode.normalize && renormalize_;
  const bool reads_edited =
      sums ? !edits.empty() || mode.allowed != nullptr
           : std::any_of(edits.begin(), edits.end(),
                         [](const TokenEdit& edit) { return !edit.banned; });
  return {.top = std::min(vocab_, n + static_cast<int>(edits.size())),
          .allowed = mode.allowed,
          .tie_margin = 0,
          .log_sum_exp = false,
          .row = reads_edited};
}

void ProcessedRow::Set(const LogitsView& logits, float log_sum_exp,
                       absl::Span<const int> tokens, const Mode& mode) {
  logits_ = logits;
  log_sum_exp_ = log_sum_exp;
  mode_ = mode;
  processors_.Update(tokens, mode.can_end);
  log_normalizer_ = mode.normalize && renormalize_ ? LogNormalizer() : 0;
}

float ProcessedRow::Edited(const TokenEdit& edit) const {
  if (!Allows(edit.id)) return kNegativeInfinity;
  return edit.banned ? processors_.Apply(edit, 0)
                     : processors_.Apply(edit, Base(edit.id));
}

void ProcessedRow::FindTop(size_t count) {
  top_.resize(std::min<size_t>(logits_.vocab(), count));
  if (mode_.allowed == nullptr) {
    logits_.Top(absl::MakeSpan(top_));
  } else {
    top_.resize(logits_.TopAllowed(mode_.allowed, absl::MakeSpan(top_)));
  }
}

absl::Span<const TokenScore> ProcessedRow::Best(int n) {
  n = std::min(n, logits_.vocab());
  best_.clear();
  if (processors_.forced() >= 0) {
    BestOfForced(n);
    return best_;
  }
  const absl::Span<const TokenEdit> edits = processors_.edits();
  FindTop(n + edits.size());
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
  FillUp(n);
  // Without edits the list is sorted already.
  if (!edits.empty()) {
    std::partial_sort(best_.begin(), best_.begin() + n, best_.end(), Better);
  }
  return absl::MakeConstSpan(best_).first(n);
}

void ProcessedRow::FillUp(int n) {
  const auto has = [this](int id) {
    return std::any_of(
        best_.begin(), best_.end(),
        [id](const TokenScore& token) { return token.id == id; });
  };
  for (int id = 0; static_cast<int>(best_.size()) < n; ++id) {
    if (!has(id)) best_.push_back({id, kNegativeInfinity});
  }
}

void ProcessedRow::BestOfForced(int n) {
  best_.push_back({processors_.forced(), 0});
  for (int id = 0; static_cast<int>(best_.size()) < n; ++id) {
    if (id != processors_.forced()) best_.push_back({id, kNegativeInfinity});
  }
}

float ProcessedRow::Of(int id) const {
  if (processors_.forced() >= 0) {
    return id == processors_.forced() ? 0 : kNegativeInfinity;
  }
  const absl::Span<const TokenEdit> edits = processors_.edits();
  const auto edit =
      std::lower_bound(edits.begin(), edits.end(), id,
                       [](const TokenEdit& e, int i) { return e.id < i; });
  const bool edited = edit != edits.end() && edit->id == id;
  const float score = edited       ? Edited(*edit)
                      : Allows(id) ? Base(id)
                                   : kNegativeInfinity;
  return NanToNegativeInfinity(score - log_normalizer_);
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
  if (mode_.allowed == nullptr) return;
  for (TokenScore& token : out) {
    if (!Allows(token.id)) token.score = kNegativeInfinity;
  }
}

// log(sum(exp(processed score))) of a row that was normalised before the edits.
float ProcessedRow::LogNormalizer() const {
  if (processors_.forced() >= 0) return 0;
  if (mode_.allowed != nullptr) return LogNormalizerOfAllowed();
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

float ProcessedRow::LogNormalizerOfAllowed() const {
  const absl::Span<const TokenEdit> edits = processors_.edits();
  const auto for_each_score = [&](auto use) {
    const TokenEdit* edit = edits.begin();
    for (int id = 0; id < logits_.vocab(); ++id) {
      if (!Allows(id)) continue;
      while (edit != edits.end() && edit->id < id) ++edit;
      const bool edited = edit != edits.end() && edit->id == id;
      use(static_cast<double>(edited ? Edited(*edit) : Base(id)));
    }
  };
  double highest = kNegativeInfinity;
  for_each_score([&](double score) { highest = std::max(highest, score); });
  // No probability is left, or none is a number.
  if (std::isinf(highest)) return 0;
  double sum = 0;
  for_each_score([&](double score) { sum += std::exp(score - highest); });
  return static_cast<float>(highest + std::log(sum));
}

}  // namespace attend
