#include "engine/decoding/beam_search.h"

#include <algorithm>
#include <cmath>

#include "engine/tensor/check.h"

namespace attend {
namespace {

size_t CandidateCount(const GenerationParams& params) {
  return std::max<size_t>(2, 1 + EndIds(params).size()) * params.num_beams;
}

}  // namespace

BeamSearch::BeamSearch(const SearchInput& input)
    : num_beams_(input.params.num_beams),
      max_new_tokens_(input.params.max_new_tokens),
      row_(input, static_cast<int>(CandidateCount(input.params))),
      finished_(input),
      num_candidates_(CandidateCount(input.params)),
      length_penalty_(input.params.length_penalty),
      early_stopping_(input.params.early_stopping),
      prompt_len_(input.prompt.size()),
      log_probs_(input.params.log_probs || input.params.top_log_probs > 0),
      top_log_probs_(input.params.top_log_probs),
      reads_rows_(!input.params.force_words.empty()),
      constraint_(input, num_beams_),
      status_(constraint_.status()),
      stopping_(input),
      token_log_probs_(num_beams_, TokenLogProbs(input.params.top_log_probs)) {
  candidates_.reserve(num_candidates_ * num_beams_);
  parents_.reserve(num_beams_);
  for (int beam = 0; beam < num_beams_; ++beam) {
    running_.push_back(EmptyHypothesis(input));
    next_running_.push_back(EmptyHypothesis(input));
    // All beams begin as the same sequence: only the first may be continued.
    running_.back().score = beam == 0 ? 0 : kDeadBeam;
  }
  output_.choices.resize(input.params.num_return_sequences);
  for (ChoiceOutput& choice : output_.choices) {
    choice.tokens.reserve(max_new_tokens_);
    if (log_probs_) choice.log_probs.reserve(max_new_tokens_);
    choice.top.reserve(max_new_tokens_ * top_log_probs_);
  }
  needs_.reserve(num_beams_);
  AskForNext();
}

int BeamSearch::rows() const {
  if (output_.finished) return 0;
  return new_tokens_ == 0 ? 1 : num_beams_;
}

absl::Span<const int> BeamSearch::tokens(int row) const {
  return running_[row].tokens;
}

void BeamSearch::Advance(absl::Span<const LogitsView> logits) {
  ATTEND_CHECK(static_cast<int>(logits.size()) == rows());
  status_ = constraint_.status();
  if (!status_.ok()) return;
  CollectCandidates(logits);
  for (Candidate& candidate : candidates_) {
    candidate.finish = constraint_.Why(
        new_tokens_ == 0 ? 0 : candidate.beam,
        stopping_.Check(running_[candidate.beam].tokens, candidate.id));
  }
  const bool at_start = new_tokens_ == 0;
  ++new_tokens_;
  KeepFinished();
  KeepRunning();
  if (at_start) std::fill(parents_.begin(), parents_.end(), 0);
  if (CanEnd()) {
    Finish();
  } else {
    EmitSharedPrefix();
  }
  if (status_.ok()) AskForNext();
}

ProcessedRow::Mode BeamSearch::ModeOf(int beam) const {
  return {.normalize = true,
          .allowed = constraint_.allowed(beam),
          .can_end = constraint_.can_end(beam)};
}

void BeamSearch::AskForNext() {
  needs_.clear();
  for (int beam = 0; beam < rows(); ++beam) {
    LogitsNeed need = row_.Need(
        running_[beam].tokens, static_cast<int>(num_candidates_), ModeOf(beam));
    need.top = std::max(need.top, static_cast<int>(top_log_probs_));
    need.log_sum_exp = true;
    // Banned tokens, tokens that are not allowed, or tokens other than the
    // forced one, may fill places: their logits may be needed.
    need.row |=
        reads_rows_ || (log_probs_ && (row_.edited() || constraint_.active()));
    needs_.push_back(need);
  }
}

void BeamSearch::CollectCandidates(absl::Span<const LogitsView> logits) {
  candidates_.clear();
  absl::Span<const TokenScore> best;
  for (int beam = 0; beam < num_beams_; ++beam) {
    // At the start there is one row, for all beams.
    if (static_cast<size_t>(beam) < logits.size()) {
      const float log_sum_exp = logits[beam].LogSumExp();
      row_.Set(logits[beam], log_sum_exp, running_[beam].tokens, ModeOf(beam));
      best = row_.Best(static_cast<int>(num_candidates_));
      OnRow(beam);
      if (log_probs_) token_log_probs_[beam].Set(logits[beam], log_sum_exp);
    }
    AddCandidates(beam, best);
  }
  const size_t keep = std::min(num_candidates_, candidates_.size());
  std::partial_sort(candidates_.begin(), candidates_.begin() + keep,
                    candidates_.end(),
                    [](const Candidate& a, const Candidate& b) {
                      if (a.score != b.score) return a.score > b.score;
                      return a.beam != b.beam ? a.beam < b.beam : a.id < b.id;
                    });
  candidates_.resize(keep);
}

void BeamSearch::AddCandidates(int beam, absl::Span<const TokenScore> best) {
  const float sum = running_[beam].score;
  for (const TokenScore& token : best) {
    candidates_.push_back(
        {.beam = beam, .id = token.id, .score = token.score + sum});
  }
}

// Only the first `num_beams` candidates may finish. The others are there to
// keep enough beams running.
void BeamSearch::KeepFinished() {
  for (int rank = 0; rank < num_beams_; ++rank) {
    const Candidate& candidate = candidates_[rank];
    if (!candidate.ended() || !MayFinish(candidate)) continue;
    const float score = Normalised(candidate.score, new_tokens_);
    if (Hypothesis* place = finished_.Insert(score)) Extend(candidate, *place);
  }
}

bool BeamSearch::MayFinish(const Candidate& candidate) const {
  return !constraint_.active() || !candidate.dead();
}

// Keeps the best candidates that have not ended. If there are too few, ended
// candidates fill the places as dead beams, then banned ones.
void BeamSearch::KeepRunning() {
  parents_.clear();
  alive_ = 0;
  for (const int tier : {0, 1, 2}) {
    for (const Candidate& candidate : candidates_) {
      if (parents_.size() == running_.size()) break;
      const bool ended = candidate.ended();
      if ((std::isinf(candidate.score) ? 2 : ended) != tier) continue;
      const size_t place = parents_.size();
      Hypothesis& next = next_running_[place];
      Extend(candidate, next);
      next.score = candidate.score + (ended ? kDeadBeam : 0);
      FollowInConstraint(candidate, static_cast<int>(place));
      parents_.push_back(candidate.beam);
    }
  }
  std::swap(running_, next_running_);
}

void BeamSearch::FollowInConstraint(const Candidate& candidate, int place) {
  const bool dead = candidate.ended() || candidate.dead();
  alive_ += dead ? 0 : 1;
  // At the start all beams are the same, and only the first has a row.
  const int parent = new_tokens_ == 1 ? 0 : candidate.beam;
  constraint_.Follow(place, parent, candidate.id, dead);
}

void BeamSearch::Extend(const Candidate& candidate, Hypothesis& to) const {
  const Hypothesis& from = running_[candidate.beam];
  to.tokens.assign(from.tokens.begin(), from.tokens.end());
  to.tokens.push_back(candidate.id);
  to.finish = candidate.finish;
  if (!log_probs_) return;
  to.log_probs.assign(from.log_probs.begin(), from.log_probs.end());
  to.top.assign(from.top.begin(), from.top.end());
  const int row = new_tokens_ == 1 ? 0 : candidate.beam;
  token_log_probs_[row].AppendTo(candidate.id, to.log_probs, to.top);
}

bool BeamSearch::CanEnd() const {
  if (finished_.full() && early_stopping_ == EarlyStopping::kTrue) return true;
  if (std::all_of(
          candidates_.begin(), candidates_.end(),
          [](const Candidate& candidate) { return candidate.ended(); })) {
    return true;
  }
  if (constraint_.active() && alive_ == 0) return true;
  return CannotImprove(running_[0].score);
}

bool BeamSearch::CannotImprove(float best) const {
  const bool hope_at_max =
      early_stopping_ == EarlyStopping::kNever && length_penalty_ > 0;
  const float best_possible =
      Normalised(best, hope_at_max ? max_new_tokens_ : new_tokens_);
  return !(best_possible > finished_.worst_score());
}

float BeamSearch::Normalised(float sum, int length) const {
  return sum /
         static_cast<float>(std::pow(static_cast<double>(length),
                                     static_cast<double>(length_penalty_)));
}

// Emits the prefix on which all hypotheses agree that may become the best
// result. Continues where it stopped: all steps together compare each token of
// each beam once.
void BeamSearch::EmitSharedPrefix() {
  ChoiceOutput& best = output_.choices[0];
  const std::vector<int>& leader = running_[0].tokens;
  size_t shared = prompt_len_ + best.tokens.size();
  const auto agrees = [&](const Hypothesis& hypothesis) {
    return shared < hypothesis.tokens.size() &&
           hypothesis.tokens[shared] == leader[shared];
  };
  while (shared < leader.size() &&
         std::all_of(running_.begin(), running_.end(), agrees) &&
         std::all_of(finished_.begin(), finished_.end(), agrees)) {
    ++shared;
  }
  EmitTokens(running_[0], shared - prompt_len_, best);
}

void BeamSearch::Finish() {
  if (constraint_.active()) {
    // What fills the other places is not what the constraint allows.
    if (finished_.size() == 0) status_ = NothingMayFollow();
    if (!status_.ok()) return;
    output_.choices.resize(std::min(output_.choices.size(), finished_.size()));
  }
  output_.finished = true;
  for (size_t rank = 0; rank < output_.choices.size(); ++rank) {
    ChoiceOutput& choice = output_.choices[rank];
    // A place is empty only if bans have left fewer continuations than beams.
    const bool kept = rank < finished_.size();
    const Hypothesis& from = kept ? finished_[rank] : running_[rank];
    EmitTokens(from, from.tokens.size() - prompt_len_, choice);
    choice.score = kept ? from.score : Normalised(from.score, new_tokens_);
    choice.finish = from.finish == FinishReason::kNone
                        ? FinishReason::kMaxLength
                        : from.finish;
  }
  parents_.clear();
}

void BeamSearch::EmitTokens(const Hypothesis& from, size_t until,
                            ChoiceOutput& to) const {
  const size_t emitted = to.tokens.size();
  const auto append = [](const auto& source, size_t begin, size_t end,
                         auto& target) {
    target.insert(target.end(), source.begin() + begin, source.begin() + end);
  };
  append(from.tokens, prompt_len_ + emitted, prompt_len_ + until, to.tokens);
  if (!log_probs_) return;
  append(from.log_probs, emitted, until, to.log_probs);
  append(from.top, emitted * top_log_probs_, until * top_log_probs_, to.top);
}

}  // namespace attend
