#ifndef ATTEND_ENGINE_DECODING_PROMPT_LOOKUP_H_
#define ATTEND_ENGINE_DECODING_PROMPT_LOOKUP_H_

#include <vector>

#include "absl/types/span.h"

namespace attend {

// Drafts the tokens that may follow a sequence: if its last tokens occurred
// before, then what followed them there. Summaries, edits and code repeat much
// of their prompt (prompt lookup decoding: Saxena 2023; Yang et al. 2023,
// "Inference with Reference"). The more of the drafts is accepted, the longer
// the next one. Where too few are, drafts become short and rare. All memory is
// reserved at construction. Not thread-safe.
class PromptLookup {
 public:
  // The most tokens of a draft.
  static constexpr int kMostTokens = 15;

  // `source`: tokens that are looked through besides the sequence itself.
  explicit PromptLookup(std::vector<int> source);

  // What a step can take of drafted tokens, and what they have to be worth.
  struct Limits {
    int most = 0;  // tokens
    // The least share of drafted tokens that must be accepted for a gain.
    float least_accepted = 0;
  };
  // The last of `tokens` (prompt, new), and drafted tokens. Valid until the
  // next call.
  absl::Span<const int> Draft(absl::Span<const int> tokens,
                              const Limits& limits);
  // To be called after a Draft() that had drafted tokens: the first `accepted`
  // of these did follow.
  void Learn(int accepted);

 private:
  // A place in a list of tokens after which the same tokens stand as at the end
  // of the sequence, the more the better.
  struct Match {
    absl::Span<const int> following;
    int tokens = 0;
  };
  void Look(absl::Span<const int> in, absl::Span<const int> tokens,
            Match& best) const;

  const std::vector<int> source_;
  std::vector<int> draft_;  // the last token, then the drafted tokens
  int length_ = 4;          // of the next draft
  float accepted_ = 0.5f;   // the share of late that was accepted
  int skipped_ = 0;         // calls without a draft because of that share
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_PROMPT_LOOKUP_H_
