#include "engine/decoding/logits_processors.h"

#include <algorithm>
#include <limits>

#include "engine/decoding/stopping.h"

namespace attend {
namespace {

// Whether the sequence ends with the first tokens of `word`, so that the last
// token of `word` would complete it.
bool Continues(absl::Span<const int> tokens, absl::Span<const int> word) {
  const size_t before = word.size() - 1;
  return before <= tokens.size() && tokens.last(before) == word.first(before);
}

// transformers adds up the biases of a token in this order.
bool InOrder(const SequenceBias& a, const SequenceBias& b) {
  if (a.tokens.back() != b.tokens.back()) {
    return a.tokens.back() < b.tokens.back();
  }
  return a.tokens.size() < b.tokens.size();
}

std::vector<int> SourceOf(const SearchInput& input) {
  if (input.source_ngram_size == 0) return {};
  return {input.source.begin(), input.source.end()};
}

}  // namespace

LogitsProcessors::LogitsProcessors(const SearchInput& input)
    : repetition_penalty_(input.params.repetition_penalty),
      presence_penalty_(input.params.presence_penalty),
      frequency_penalty_(input.params.frequency_penalty),
      ngram_size_(input.params.no_repeat_ngram_size),
      source_ngram_size_(input.source_ngram_size),
      source_(SourceOf(input)),
      prompt_len_(input.prompt.size()),
      min_new_tokens_(input.params.min_new_tokens),
      max_new_tokens_(input.params.max_new_tokens),
      forced_bos_id_(input.params.forced_bos_id),
      forced_eos_id_(input.params.forced_eos_id),
      end_ids_(EndIds(input.params)),
      biases_(input.params.sequence_bias),
      suppressed_(input.params.suppress_tokens),
      suppressed_first_(input.params.begin_suppress_tokens),
      first_(prompt_len_ == 1 && forced_bos_id_ >= 0 ? 1 : 0) {
  std::stable_sort(biases_.begin(), biases_.end(), InOrder);
  for (const std::vector<int>& word : input.params.bad_words) {
    // As in transformers, an end token alone cannot be a bad word.
    const bool is_end =
        word.size() == 1 &&
        std::find(end_ids_.begin(), end_ids_.end(), word[0]) != end_ids_.end();
    if (!is_end) bad_words_.push_back(word);
  }
  size_t max_edits = bad_words_.size() + biases_.size() + suppressed_.size() +
                     suppressed_first_.size();
  if (min_new_tokens_ > 0) max_edits += end_ids_.size();
  const size_t max_tokens = prompt_len_ + max_new_tokens_;
  if (repetition_penalty_ != 1) max_edits += max_tokens;
  if (presence_penalty_ != 0 || frequency_penalty_ != 0) {
    max_edits += max_new_tokens_;
  }
  if (ngram_size_ > 0) max_edits += max_tokens;
  max_edits += source_.size();
  edits_.reserve(max_edits);
}

void LogitsProcessors::Update(absl::Span<const int> tokens, bool can_end) {
  edits_.clear();
  forced_ = -1;
  const size_t new_tokens = tokens.size() - prompt_len_;
  // The first token is forced only after a single token.
  if (tokens.size() == 1) forced_ = forced_bos_id_;
  if (can_end && forced_eos_id_ >= 0 && new_tokens + 1 == max_new_tokens_) {
    forced_ = forced_eos_id_;
  }
  if (forced_ >= 0) return;
  AddBiases(tokens);
  AddPenalties(tokens);
  AddNgrams(ngram_size_, tokens, tokens);
  AddNgrams(source_ngram_size_, source_, tokens);
  AddBadWords(tokens);
  AddBans(new_tokens);
  Merge();
}

void LogitsProcessors::AddBiases(absl::Span<const int> tokens) {
  for (const SequenceBias& entry : biases_) {
    if (!Continues(tokens, entry.tokens)) continue;
    const int id = entry.tokens.back();
    if (edits_.empty() || edits_.back().id != id) edits_.push_back({.id = id});
    edits_.back().bias += entry.bias;
  }
}

void LogitsProcessors::AddPenalties(absl::Span<const int> tokens) {
  if (repetition_penalty_ != 1) {
    for (int id : tokens) edits_.push_back({.id = id, .seen = true});
  }
  if (presence_penalty_ != 0 || frequency_penalty_ != 0) {
    for (int id : tokens.subspan(prompt_len_)) {
      edits_.push_back({.id = id, .count = 1});
    }
  }
}

void LogitsProcessors::AddNgrams(size_t n, absl::Span<const int> text,
                                 absl::Span<const int> tokens) {
  if (n == 0 || tokens.size() + 1 < n) return;
  const absl::Span<const int> suffix = tokens.last(n - 1);
  for (size_t i = 0; i + n <= text.size(); ++i) {
    if (text.subspan(i, n - 1) == suffix) {
      edits_.push_back({.id = text[i + n - 1], .banned = true});
    }
  }
}

void LogitsProcessors::AddBadWords(absl::Span<const int> tokens) {
  for (const std::vector<int>& word : bad_words_) {
    if (Continues(tokens, word)) {
      edits_.push_back({.id = word.back(), .banned = true});
    }
  }
}

void LogitsProcessors::AddBans(size_t new_tokens) {
  const auto ban = [&](absl::Span<const int> ids) {
    for (int id : ids) edits_.push_back({.id = id, .banned = true});
  };
  if (new_tokens < min_new_tokens_) ban(end_ids_);
  ban(suppressed_);
  if (new_tokens == first_) ban(suppressed_first_);
}

// Sorts the edits by id, and merges all edits of a token into one.
void LogitsProcessors::Merge() {
  std::sort(edits_.begin(), edits_.end(),
            [](const TokenEdit& a, const TokenEdit& b) { return a.id < b.id; });
  size_t merged = 0;
  for (const TokenEdit& edit : edits_) {
    if (merged == 0 || edits_[merged - 1].id != edit.id) {
      edits_[merged++] = edit;
      continue;
    }
    TokenEdit& last = edits_[merged - 1];
    last.seen |= edit.seen;
    last.banned |= edit.banned;
    last.bias += edit.bias;
    last.count += edit.count;
  }
  edits_.resize(merged);
}

float LogitsProcessors::Apply(const TokenEdit& edit, float score) const {
  if (edit.banned) return -std::numeric_limits<float>::infinity();
  score += edit.bias;
  if (edit.seen) {
    score =
        score < 0 ? score * repetition_penalty_ : score / repetition_penalty_;
  }
  if (edit.count > 0) {
    score -= presence_penalty_ + frequency_penalty_ * edit.count;
  }
  return score;
}

}  // namespace attend
