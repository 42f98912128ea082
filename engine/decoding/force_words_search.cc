#include "engine/decoding/force_words_search.h"

#include <algorithm>
#include <utility>

namespace attend {
namespace {

// How much a degree of completeness weighs beside a log-probability.
constexpr float kBankWeight = 100;

size_t CountAlternatives(const GenerationParams& params) {
  size_t count = 0;
  for (const auto& word : params.force_words) count += word.size();
  return count;
}

}  // namespace

ForceWordsSearch::ForceWordsSearch(const SearchInput& input)
    : BeamSearch(input),
      words_(input.params),
      stops_when_full_(input.params.early_stopping == EarlyStopping::kTrue),
      progress_(num_beams_, words_.Begin()),
      next_progress_(num_beams_) {
  const size_t most = CountAlternatives(input.params);
  next_tokens_.reserve(most);
  forward_.reserve(num_beams_ * most);
  scored_.reserve(num_beams_ * (1 + most));
}

void ForceWordsSearch::OnRow(int beam) {
  if (beam == 0) forward_.clear();
  next_tokens_.clear();
  words_.Next(progress_[beam], next_tokens_);
  for (const int id : next_tokens_) {
    forward_.push_back(
        {.beam = beam, .id = id, .score = row_.Of(id) + running_[beam].score});
  }
}

bool ForceWordsSearch::MayFinish(const Candidate& candidate) const {
  return candidate.finish == FinishReason::kEos &&
         words_.Complete(progress_[candidate.beam]);
}

ForceWordsSearch::Scored ForceWordsSearch::ScoredOf(
    const Candidate& candidate) const {
  Scored scored = {.candidate = candidate,
                   .progress = progress_[candidate.beam]};
  words_.Add(candidate.id, scored.progress);
  scored.rank = static_cast<float>(words_.Bank(scored.progress)) * kBankWeight +
                candidate.score;
  return scored;
}

// At the start all beams are the same sequence.
bool ForceWordsSearch::IsNew(const Candidate& candidate) const {
  const std::vector<int>& tokens = running_[candidate.beam].tokens;
  return std::none_of(scored_.begin(), scored_.end(), [&](const Scored& other) {
    return other.candidate.id == candidate.id &&
           running_[other.candidate.beam].tokens == tokens;
  });
}

void ForceWordsSearch::Arrange() {
  const auto better = [](const Scored& a, const Scored& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.order < b.order;
  };
  for (size_t i = 0; i < scored_.size(); ++i) {
    scored_[i].order = static_cast<int>(i);
  }
  std::sort(scored_.begin(), scored_.end(), better);
  int bank = -1;
  int place = 0;
  for (Scored& one : scored_) {
    const int own = words_.Bank(one.progress);
    place = own == bank ? place + 1 : 0;
    bank = own;
    one.place = place;
  }
  std::sort(scored_.begin(), scored_.end(),
            [better](const Scored& a, const Scored& b) {
              return a.place != b.place ? a.place < b.place : better(a, b);
            });
}

void ForceWordsSearch::KeepRunning() {
  scored_.clear();
  for (const Candidate& candidate : candidates_) {
    if (scored_.size() == running_.size()) break;
    if (candidate.finish == FinishReason::kEos) continue;
    scored_.push_back(ScoredOf(candidate));
  }
  const size_t own = scored_.size();
  for (const Candidate& candidate : forward_) {
    if (IsNew(candidate)) scored_.push_back(ScoredOf(candidate));
  }
  if (scored_.size() > own) Arrange();
  parents_.clear();
  for (size_t place = 0; place < running_.size(); ++place) {
    const Scored& kept = scored_[place];
    Extend(kept.candidate, next_running_[place]);
    next_running_[place].score = kept.candidate.score;
    next_progress_[place] = kept.progress;
    parents_.push_back(kept.candidate.beam);
  }
  std::swap(running_, next_running_);
  std::swap(progress_, next_progress_);
}

bool ForceWordsSearch::IsDone() const {
  return finished_.full() &&
         (stops_when_full_ || CannotImprove(candidates_[0].score));
}

bool ForceWordsSearch::CanEnd() const {
  return new_tokens_ == max_new_tokens_ || IsDone();
}

// As transformers, lets beams that lack words compete where too few have all.
void ForceWordsSearch::Finish() {
  if (!IsDone()) {
    const size_t complete = std::count_if(
        progress_.begin(), progress_.end(),
        [this](const WordProgress& one) { return words_.Complete(one); });
    KeepOpen(/*complete=*/true);
    if (complete < output_.choices.size()) KeepOpen(/*complete=*/false);
  }
  BeamSearch::Finish();
}

void ForceWordsSearch::KeepOpen(bool complete) {
  for (size_t beam = 0; beam < running_.size(); ++beam) {
    if (words_.Complete(progress_[beam]) != complete) continue;
    const float score = Normalised(running_[beam].score, new_tokens_);
    Hypothesis* const place = finished_.Insert(score);
    if (place == nullptr) continue;
    *place = running_[beam];
    place->score = score;
    place->finish = FinishReason::kMaxLength;
  }
}

}  // namespace attend
