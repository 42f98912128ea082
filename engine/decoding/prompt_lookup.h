#ifndef ATTEND_ENGINE_DECODING_PROMPT_LOOKUP_H_
#define ATTEND_ENGINE_DECODING_PROMPT_LOOKUP_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/decoding/draft_pace.h"

namespace attend {

// Drafts the tokens that may follow a sequence: if its last tokens occurred
// before, then what followed them there. Summaries, edits and code repeat much
// of their prompt (prompt lookup decoding: Saxena 2023; Yang et al. 2023,
// "Inference with Reference"). A DraftPace says how long drafts are. All memory
// is reserved at construction. Not thread-safe.
class PromptLookup {
 public:
  // `source`: tokens that are looked through besides the sequence itself.
  explicit PromptLookup(std::vector<int> source);

  // The last of `tokens` (prompt, new), and drafted tokens. Valid until the
  // next call.
  absl::Span<const int> Draft(absl::Span<const int> tokens,
                              const DraftLimits& limits);
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
  DraftPace pace_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_PROMPT_LOOKUP_H_
