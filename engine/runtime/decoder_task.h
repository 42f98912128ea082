#ifndef ATTEND_ENGINE_RUNTIME_DECODER_TASK_H_
#define ATTEND_ENGINE_RUNTIME_DECODER_TASK_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/scorer.h"
#include "engine/decoding/search.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

// What a request wants of its decoder rows: which tokens they are, and what
// becomes of their logits. All memory is reserved at construction. Not
// thread-safe; different tasks may run on different threads.
class DecoderTask {
 public:
  virtual ~DecoderTask() = default;

  virtual int hypotheses() const = 0;
  // Known decoder tokens of a hypothesis; each has as many.
  virtual absl::Span<const int> tokens(int hypothesis) const = 0;
  // Those of them that are computed without a choice after them.
  virtual absl::Span<const int> prompt(int hypothesis) const = 0;
  // Of the prompt's rows, from the last one backwards, those whose logits are
  // still to be taken.
  virtual int unscored() const = 0;

  // What the next Take() will ask of the logits of its row `row`.
  virtual LogitsNeed need(int row) const = 0;
  // Takes the logits of the rows that want it, in their order: of a prompt in
  // groups of any size, else of the last token of each hypothesis.
  virtual void Take(absl::Span<const LogitsView> logits) = 0;
  // For each hypothesis, the one before the last Take() that it continues; none
  // if that chose nothing.
  virtual std::optional<absl::Span<const int>> parents() const = 0;

  virtual const SequenceOutput& output() const = 0;
};

// Generates: a search, before which the prompt may be scored.
class Generation final : public DecoderTask {
 public:
  // `scorer`: of the prompt but for its first token; null if nobody asks.
  Generation(std::unique_ptr<Search> search, std::unique_ptr<Scorer> scorer)
      : search_(std::move(search)), scorer_(std::move(scorer)) {}

  int hypotheses() const override { return search_->rows(); }
  absl::Span<const int> tokens(int hypothesis) const override {
    return search_->tokens(hypothesis);
  }
  absl::Span<const int> prompt(int hypothesis) const override;
  int unscored() const override { return scorer_ ? scorer_->remaining() : 0; }
  LogitsNeed need(int row) const override;
  void Take(absl::Span<const LogitsView> logits) override;
  std::optional<absl::Span<const int>> parents() const override;
  const SequenceOutput& output() const override { return search_->output(); }

 private:
  const std::unique_ptr<Search> search_;
  std::unique_ptr<Scorer> scorer_;  // until it has ended
};

// Scores a given target.
class Scoring final : public DecoderTask {
 public:
  // `tokens`: all that is computed: prompt, or decoder start, and the target
  // but for its last token.
  Scoring(std::vector<int> tokens, Scorer scorer)
      : tokens_(std::move(tokens)), scorer_(std::move(scorer)) {}

  int hypotheses() const override { return 1; }
  absl::Span<const int> tokens(int) const override { return tokens_; }
  absl::Span<const int> prompt(int) const override { return tokens_; }
  int unscored() const override { return scorer_.remaining(); }
  LogitsNeed need(int) const override { return scorer_.need(); }
  void Take(absl::Span<const LogitsView> logits) override {
    scorer_.Advance(logits);
  }
  std::optional<absl::Span<const int>> parents() const override { return {}; }
  const SequenceOutput& output() const override { return scorer_.output(); }

 private:
  const std::vector<int> tokens_;
  Scorer scorer_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DECODER_TASK_H_
