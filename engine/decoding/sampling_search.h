#ifndef ATTEND_ENGINE_DECODING_SAMPLING_SEARCH_H_
#define ATTEND_ENGINE_DECODING_SAMPLING_SEARCH_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/decoding/constraint_rows.h"
#include "engine/decoding/processed_row.h"
#include "engine/decoding/sampler.h"
#include "engine/decoding/search.h"
#include "engine/decoding/stopping.h"
#include "engine/decoding/token_log_probs.h"

namespace attend {

// Greedy search, or num_return_sequences independent samples. All samples share
// the first row. After the first row each unfinished choice has a row of its
// own, in the order of the choices.
class SamplingSearch : public Search {
 public:
  explicit SamplingSearch(const SearchInput& input);

  int rows() const override;
  absl::Span<const int> tokens(int row) const override;
  absl::Span<const LogitsNeed> needs() const override { return needs_; }
  void Advance(absl::Span<const LogitsView> logits) override;
  std::optional<LogitsNeed> draft_need() const override;
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

 private:
  // Fills needs_ for the choices that are unfinished now.
  void AskForNext();
  LogitsNeed NeedOf(int row);
  ProcessedRow::Mode ModeOf(int row) const;
  bool AtStart() const { return position_ == 0; }
  // Makes row_ and the sampler those of a row. False: nothing may follow.
  bool SetRow(int row, const LogitsView& logits);
  int Next(int choice);
  // Returns false if the choice has ended.
  bool Append(int choice, int row, int id);

  const bool do_sample_;
  const bool log_probs_;
  const uint64_t seed_;
  ConstraintRows constraint_;
  absl::Status status_;
  ProcessedRow row_;
  Sampler sampler_;
  Stopping stopping_;
  TokenLogProbs token_log_probs_;

  int position_ = 0;                      // of the next new token
  std::vector<std::vector<int>> tokens_;  // by choice: prompt, new
  std::vector<int> live_;                 // unfinished choices
  std::vector<int> parents_;
  std::vector<LogitsNeed> needs_;  // [rows]
  SequenceOutput output_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_DECODING_SAMPLING_SEARCH_H_
