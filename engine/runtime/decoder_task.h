#ifndef ATTEND_ENGINE_RUNTIME_DECODER_TASK_H_
#define ATTEND_ENGINE_RUNTIME_DECODER_TASK_H_

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/api/output.h"
#include "engine/decoding/draft_pace.h"
#include "engine/decoding/scorer.h"
#include "engine/ops/logits/logits_view.h"

namespace attend {

class ModelDraft;
class PooledPrompt;

// What a request does with its decoder rows: which tokens the rows have, and
// what the logits are used for. All memory is reserved at construction. Not
// thread-safe; different tasks may run on different threads.
class DecoderTask {
 public:
  virtual ~DecoderTask() = default;

  virtual int hypotheses() const = 0;
  // The known decoder tokens of a hypothesis. All hypotheses have equally many.
  virtual absl::Span<const int> tokens(int hypothesis) const = 0;
  // The beginning of tokens() that is computed in the prompt phase: all tokens
  // after which no token is chosen.
  virtual absl::Span<const int> prompt(int hypothesis) const = 0;
  // The number of last rows of the prompt whose logits the task has not taken
  // yet. 0: the task takes no logits of the prompt.
  virtual int unscored() const = 0;

  // What the next Take() will ask of logits[row].
  virtual LogitsNeed need(int row) const = 0;
  // Takes logits, in the order of the rows: while unscored() > 0, of the next
  // rows of the prompt, any number of them; later, of the last token of each
  // hypothesis.
  virtual void Take(absl::Span<const LogitsView> logits) = 0;
  // Takes what the head makes of the next row of the prompt, in the order of
  // the rows while unscored() > 0, where the head reads the decoder
  // (HeadSpec::reads_decoder). Such a model's tasks take no logits.
  virtual void TakeVector(absl::Span<const float> /*values*/) {}
  // For each hypothesis, the index that its parent had before the last Take().
  // nullopt if the last Take() chose no tokens.
  virtual std::optional<absl::Span<const int>> parents() const = 0;

  // To be called before each step with the last token of the only hypothesis:
  // begins a draft of tokens that may follow it. Returns how many there will be
  // at most.
  virtual int BeginDraft(const DraftLimits& /*limits*/) { return 0; }
  // What a draft model is to compute for that draft; null: nothing.
  virtual ModelDraft* model_draft() { return nullptr; }
  // That token, and the drafted ones. The next Take() gets the logits of these
  // rows, in this order. Valid until then.
  virtual absl::Span<const int> draft() const { return tokens(0).last(1); }
  // Whether tokens after the prompt may still be replaced by others.
  virtual bool tentative() const { return false; }
  // How many tokens of the draft the last Take() accepted.
  virtual int accepted() const { return 0; }
  // The task takes the vectors of its rows, not their logits; null: it takes
  // logits.
  virtual PooledPrompt* pooled_prompt() { return nullptr; }
  // Gives back what the task has in its context beside the rows.
  virtual void Release() {}

  // Where the attention weights [source tokens] go that the row of token
  // `token` of hypothesis 0 has. Null: they are not wanted. If any are wanted,
  // there is one hypothesis.
  virtual float* weights_of(int /*token*/) { return nullptr; }
  // To be called after Take(). True: what comes next are rows of other tokens;
  // no row that was computed counts any more. RESOURCE_EXHAUSTED: there is no
  // memory for what comes next.
  virtual absl::StatusOr<bool> Restart() { return false; }
  // OK, or why the task cannot go on.
  virtual absl::Status status() const { return absl::OkStatus(); }

  virtual const SequenceOutput& output() const = 0;
};

// Scores a given target.
class Scoring final : public DecoderTask {
 public:
  // `tokens` are all tokens whose rows are computed: the prompt or the decoder
  // start, then the target without its last token. `aligned_with`: the number
  // of source tokens with which the target is aligned; 0: it is not aligned,
  // and may follow a prompt.
  Scoring(std::vector<int> tokens, Scorer scorer, int aligned_with)
      : tokens_(std::move(tokens)),
        scorer_(std::move(scorer)),
        aligned_with_(aligned_with),
        alignment_(tokens_.size() * aligned_with) {}

  int hypotheses() const override { return 1; }
  absl::Span<const int> tokens(int) const override { return tokens_; }
  absl::Span<const int> prompt(int) const override { return tokens_; }
  int unscored() const override { return scorer_.remaining(); }
  LogitsNeed need(int) const override { return scorer_.need(); }
  void Take(absl::Span<const LogitsView> logits) override;
  std::optional<absl::Span<const int>> parents() const override { return {}; }
  float* weights_of(int token) override;
  const SequenceOutput& output() const override { return scorer_.output(); }

 private:
  const std::vector<int> tokens_;
  Scorer scorer_;
  const int aligned_with_;
  std::vector<float> alignment_;  // [target, source tokens], or empty
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DECODER_TASK_H_
