#ifndef ATTEND_ENGINE_DECODING_BEAM_SEARCH_H_
#define ATTEND_ENGINE_DECODING_BEAM_SEARCH_H_

#include <string>
#include <utility>
#include <vector>

#include "engine/decoding/constraint_rows.h"
#include "engine/decoding/finished_pool.h"
#include "engine/decoding/hypothesis.h"
#include "engine/decoding/processed_row.h"
#include "engine/decoding/search.h"
#include "engine/decoding/stopping.h"
#include "engine/decoding/token_log_probs.h"

namespace attend {

// Beam search as in transformers' _beam_search, for a batch of one:
// * log_softmax comes before the processors;
// * a step has (1 + number of end ids) * num_beams candidates, and only the
//   best num_beams of these may finish;
// * scores are sums in f32; candidates of equal score are ranked by beam, then
//   by id.
class BeamSearch : public Search {
 public:
  explicit BeamSearch(const SearchInput& input);

  int rows() const override;
  absl::Span<const int> tokens(int row) const override;
  absl::Span<const LogitsNeed> needs() const override { return needs_; }
  void Advance(absl::Span<const LogitsView> logits) override;
  absl::Span<const int> parents() const override { return parents_; }
  bool waiting() const override {
    return constraint_.waiting() && !output_.finished;
  }
  void Prepare() override { constraint_.Prepare(); }
  absl::Status status() const override { return status_; }
  const SequenceOutput& output() const override { return output_; }
  void SetPrompt(ChoiceOutput prompt) override {
    output_.prompt = std::move(prompt);
  }
  SequenceOutput TakeOutput() override { return std::move(output_); }

 protected:
  // A continuation of one beam by one token.
  struct Candidate {
    int beam = 0;
    int id = 0;
    float score = 0;  // sum of log-probabilities
    FinishReason finish = FinishReason::kNone;

    bool ended() const { return finish != FinishReason::kNone; }
    // Whether it continues a beam that must not be chosen.
    bool dead() const { return !(score > kDeadBeam / 2); }
  };

  // What a search with other rules does otherwise.

  // Called for each beam with a row of its own, when row_ is that row.
  virtual void OnRow(int /*beam*/) {}
  // Whether a candidate that has ended is a result.
  virtual bool MayFinish(const Candidate& candidate) const;
  // Makes running_ and parents_ of the candidates.
  virtual void KeepRunning();
  virtual bool CanEnd() const;
  virtual void Finish();

  // Whether no sum up to `best` makes a better result than the worst finished
  // one.
  bool CannotImprove(float best) const;
  // Makes `to` the hypothesis of the candidate, except for its score.
  void Extend(const Candidate& candidate, Hypothesis& to) const;
  float Normalised(float sum, int length) const;

  const int num_beams_;
  const int max_new_tokens_;
  ProcessedRow row_;
  std::vector<Candidate> candidates_;     // best first once collected
  std::vector<Hypothesis> running_;       // [beams], best first
  std::vector<Hypothesis> next_running_;  // [beams]
  FinishedPool finished_;
  int new_tokens_ = 0;  // of each running hypothesis
  std::vector<int> parents_;
  SequenceOutput output_;

 private:
  ProcessedRow::Mode ModeOf(int beam) const;
  // Fills needs_ for the beams that run now.
  void AskForNext();
  void CollectCandidates(absl::Span<const LogitsView> logits);
  void AddCandidates(int beam, absl::Span<const TokenScore> best);
  void KeepFinished();
  // Lets the constraint follow what KeepRunning() kept as beam `place`.
  void FollowInConstraint(const Candidate& candidate, int place);
  void EmitSharedPrefix();
  void EmitTokens(const Hypothesis& from, size_t until, ChoiceOutput& to) const;

  const size_t num_candidates_;
  const float length_penalty_;
  const EarlyStopping early_stopping_;
  const size_t prompt_len_;
  const bool log_probs_;
  const size_t top_log_probs_;
  const bool reads_rows_;  // of logits, as a whole

  ConstraintRows constraint_;
  absl::Status status_;
  Stopping stopping_;
  std::vector<TokenLogProbs> token_log_probs_;  // [beams]
  int alive_ = 0;  // running hypotheses that the constraint lets go on
  std::vector<LogitsNeed> needs_;  // [rows]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_BEAM_SEARCH_H_
