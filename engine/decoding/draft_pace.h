#ifndef ATTEND_ENGINE_DECODING_DRAFT_PACE_H_
#define ATTEND_ENGINE_DECODING_DRAFT_PACE_H_

namespace attend {

// What a step can take of drafted tokens, and what they have to be worth.
struct DraftLimits {
  int most = 0;  // tokens
  // The least share of drafted tokens that must be accepted for a gain.
  float least_accepted = 0;
  // The share that is accepted of late of what a draft model drafts, over all
  // sequences.
  float model_accepted = 0.5f;
};

// How long the drafts of a sequence are, and how often there are any: the more
// is accepted, the longer the next one; where too little is, drafts become
// short and rare. Not thread-safe.
class DraftPace {
 public:
  // The most tokens of a draft.
  static constexpr int kMostTokens = 15;

  // Where too little is accepted, one in so many calls of Next() gets a draft,
  // as texts change: at first, and after trials of which little was accepted.
  // Each of these doubles the number.
  struct Trials {
    int first = 0;
    int most = 0;
  };
  // `accepted` is the share to expect at first.
  explicit DraftPace(Trials trials, float accepted = 0.5f)
      : trials_(trials), calls_(trials.first), accepted_(accepted) {}

  // The tokens of the next draft, at most limits.most; 0: there shall be none.
  int Next(const DraftLimits& limits);
  // Of a draft of `drafted` > 0 tokens, the first `accepted` did follow.
  void Learn(int accepted, int drafted);

 private:
  Trials trials_;
  int calls_;        // one in so many is a trial
  float accepted_;   // the share of late
  int length_ = 4;   // of the next draft
  int skipped_ = 0;  // calls without a draft because of that share
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_DRAFT_PACE_H_
