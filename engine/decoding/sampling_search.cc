#include "engine/decoding/sampling_search.h"

#include <algorithm>
#include <cmath>

#include "engine/decoding/uniform_random.h"
#include "engine/tensor/check.h"

namespace attend {

SamplingSearch::SamplingSearch(const SearchInput& input)
    : do_sample_(input.params.do_sample),
      log_probs_(input.params.log_probs || input.params.top_log_probs > 0),
      seed_(input.params.seed),
      constraint_(input, input.params.num_return_sequences),
      status_(constraint_.status()),
      row_(input, do_sample_ ? std::max(1, Sampler::BestAsked(input.params,
                                                              input.vocab))
                             : 1),
      sampler_(input.params, do_sample_ ? input.vocab : 0),
      stopping_(input),
      token_log_probs_(input.params.top_log_probs) {
  const GenerationParams& params = input.params;
  const int choices = params.num_return_sequences;
  const size_t max_new = params.max_new_tokens;
  output_.choices.resize(choices);
  tokens_.resize(choices);
  parents_.reserve(choices);
  for (int choice = 0; choice < choices; ++choice) {
    std::vector<int>& tokens = tokens_[choice];
    tokens.reserve(input.prompt.size() + max_new);
    tokens.assign(input.prompt.begin(), input.prompt.end());
    ChoiceOutput& out = output_.choices[choice];
    out.tokens.reserve(max_new);
    if (log_probs_) out.log_probs.reserve(max_new);
    out.top.reserve(max_new * params.top_log_probs);
    live_.push_back(choice);
  }
  needs_.reserve(choices);
  AskForNext();
}

void SamplingSearch::AskForNext() {
  needs_.clear();
  for (int row = 0; row < rows(); ++row) needs_.push_back(NeedOf(row));
}

ProcessedRow::Mode SamplingSearch::ModeOf(int row) const {
  return {.normalize = false,
          .allowed = constraint_.allowed(row),
          .can_end = constraint_.can_end(row)};
}

LogitsNeed SamplingSearch::NeedOf(int row) {
  const int best = do_sample_ ? sampler_.best() : 1;
  LogitsNeed need = row_.Need(tokens(row), best, ModeOf(row));
  need.log_sum_exp = log_probs_;
  // A forced token may be any token: its logit may be needed. So may those of
  // tokens that are not allowed.
  need.row |= log_probs_ && (row_.edited() || constraint_.active());
  if (token_log_probs_.top() > need.top) need.top = token_log_probs_.top();
  if (!do_sample_) return need;
  // Otherwise the best tokens do not show where ties with the k-th end.
  if (best == 0 || row_.edited() || need.top > best) {
    need.row = true;
  } else {
    need.tie_margin = need.top - sampler_.top_k();
  }
  return need;
}

std::optional<LogitsNeed> SamplingSearch::draft_need() const {
  // What a constraint lets follow a token is found out when that is chosen.
  if (live_.size() != 1 || tokens_.size() != 1 || constraint_.active()) {
    return std::nullopt;
  }
  LogitsNeed need = needs_[0];
  need.row |= row_.may_edit();
  return need;
}

int SamplingSearch::rows() const {
  return AtStart() ? 1 : static_cast<int>(live_.size());
}

absl::Span<const int> SamplingSearch::tokens(int row) const {
  return tokens_[live_[row]];
}

void SamplingSearch::Advance(absl::Span<const LogitsView> logits) {
  ATTEND_CHECK(static_cast<int>(logits.size()) == rows());
  status_ = constraint_.status();
  parents_.clear();
  size_t still_live = 0;
  for (size_t i = 0; i < live_.size() && status_.ok(); ++i) {
    const int choice = live_[i];
    const int row = AtStart() ? 0 : static_cast<int>(i);
    if (static_cast<int>(i) == row && !SetRow(row, logits[row])) {
      status_ = NothingMayFollow();
      break;
    }
    const int id = Next(choice);
    if (!Append(choice, row, id)) continue;
    constraint_.Follow(static_cast<int>(still_live), row, id, /*dead=*/false);
    live_[still_live++] = choice;
    parents_.push_back(row);
  }
  if (!status_.ok()) return;
  live_.resize(still_live);
  ++position_;
  output_.finished = live_.empty();
  AskForNext();
}

bool SamplingSearch::SetRow(int row, const LogitsView& logits) {
  row_.Set(logits, /*log_sum_exp=*/0, tokens(row), ModeOf(row));
  if (constraint_.active() && std::isinf(row_.Best(1)[0].score)) return false;
  if (do_sample_) sampler_.Restrict(row_);
  if (log_probs_) token_log_probs_.Set(logits, logits.LogSumExp());
  return true;
}

int SamplingSearch::Next(int choice) {
  if (!do_sample_) return row_.Best(1)[0].id;
  return sampler_.Draw(UniformRandom(seed_, choice, position_));
}

bool SamplingSearch::Append(int choice, int row, int id) {
  ChoiceOutput& out = output_.choices[choice];
  out.finish = constraint_.Why(row, stopping_.Check(tokens_[choice], id));
  out.tokens.push_back(id);
  tokens_[choice].push_back(id);
  if (log_probs_) {
    token_log_probs_.AppendTo(id, out.log_probs, out.top);
    out.score += out.log_probs.back();
  }
  return out.finish == FinishReason::kNone;
}

}  // namespace attend
