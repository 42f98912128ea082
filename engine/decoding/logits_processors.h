#ifndef ATTEND_ENGINE_DECODING_LOGITS_PROCESSORS_H_
#define ATTEND_ENGINE_DECODING_LOGITS_PROCESSORS_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/decoding/search_input.h"

namespace attend {

// What the logits processors change about the score of one token.
struct TokenEdit {
  int id = 0;
  bool seen = false;  // in the sequence, prompt included
  bool banned = false;
  float bias = 0;  // added to the score
  int count = 0;   // occurrences among the new tokens
};

// The logits processors of transformers, in the order of transformers: sequence
// bias, repetition penalty, presence and frequency penalty (not in
// transformers; over new tokens only), no-repeat n-gram, of the source, too,
// bad words, min_new_tokens, forced first and last token, suppressed tokens (a
// forced token is none of these). Processors change few tokens of a row, so the
// changes are a sorted list of edits, which is cheaper than a changed row. Not
// thread-safe. Update() allocates nothing.
class LogitsProcessors {
 public:
  explicit LogitsProcessors(const SearchInput& input);

  // Finds the edits of the row that follows `tokens`: prompt, new. Without
  // `can_end`, no end of sequence is forced.
  void Update(absl::Span<const int> tokens, bool can_end = true);

  // If not -1: this token has score 0, all others -inf, and edits() is empty.
  int forced() const { return forced_; }
  absl::Span<const TokenEdit> edits() const { return edits_; }  // by id
  // The score after the processors of a token that had `score` before.
  float Apply(const TokenEdit& edit, float score) const;
  // Whether forced() or edits() may be anything else.
  bool may_edit() const {
    return max_edits() > 0 || forced_bos_id_ >= 0 || forced_eos_id_ >= 0;
  }
  // Upper bound of edits().size().
  int max_edits() const { return static_cast<int>(edits_.capacity()); }

 private:
  void AddBiases(absl::Span<const int> tokens);
  void AddPenalties(absl::Span<const int> tokens);
  // Bans tokens that would complete an n-gram of `text` at the end of `tokens`.
  void AddNgrams(size_t n, absl::Span<const int> text,
                 absl::Span<const int> tokens);
  void AddBadWords(absl::Span<const int> tokens);
  void AddBans(size_t new_tokens);
  void Merge();

  const float repetition_penalty_;
  const float presence_penalty_;
  const float frequency_penalty_;
  const int ngram_size_;
  const int source_ngram_size_;
  const std::vector<int> source_;  // empty if no n-gram of it is banned
  const size_t prompt_len_;
  const size_t min_new_tokens_;
  const size_t max_new_tokens_;
  const int forced_bos_id_;
  const int forced_eos_id_;
  std::vector<int> end_ids_;
  std::vector<std::vector<int>> bad_words_;
  // By the last token; of those with the same last token, single tokens first.
  std::vector<SequenceBias> biases_;
  const std::vector<int> suppressed_;
  const std::vector<int> suppressed_first_;
  // The number of new tokens after which suppressed_first_ is suppressed.
  const size_t first_;

  int forced_ = -1;
  std::vector<TokenEdit> edits_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_LOGITS_PROCESSORS_H_
