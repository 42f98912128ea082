#ifndef ATTEND_ENGINE_RUNTIME_DECODER_ROWS_H_
#define ATTEND_ENGINE_RUNTIME_DECODER_ROWS_H_

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/table_set.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/runtime/decoder_task.h"
#include "engine/runtime/step_batch.h"
#include "engine/transformer/spec.h"

namespace attend {

// What a step has left for the rows of drafted tokens.
struct DraftRoom {
  int rows = 0;
  int blocks = 0;  // that no other piece of the step takes
  // See DraftLimits.
  float least_accepted = 0;
  float model_accepted = 0;
};

// The decoder rows of a request: how far each hypothesis is computed, which
// blocks hold its keys and values, which rows come next, and which blocks other
// requests share. All memory but the pool's blocks is reserved at construction.
class DecoderRows {
 public:
  struct Options {
    int block_tokens = 0;
    int max_hypotheses = 0;
    int max_tokens = 0;  // computed tokens of the longest hypothesis
    // Whether requests share sealed blocks. Allowed only if keys and values
    // depend on nothing but the decoder's tokens.
    bool shares = false;
    uint64_t salt = 0;  // see EngineRequest::cache_salt
    // See StackSpec::RotaryByLength(). Must outlive the rows.
    const RotarySpec* by_length = nullptr;
  };
  DecoderRows(std::unique_ptr<DecoderTask> task, const Options& options);

  // Hands what the head makes of the last row to the task.
  void TakeVector(absl::Span<const float> values);

  DecoderTask& task() { return *task_; }
  const DecoderTask& task() const { return *task_; }

  // The next work. The task must not have finished.
  Work Next() const;
  int block_tokens() const { return options_.block_tokens; }
  // The blocks that the request holds in the worst case.
  int max_blocks() const;
  // The blocks that no other request holds.
  int own_blocks() const { return tables_.own_blocks(); }
  // The request has a prompt of `known` tokens. Returns the longest prompt with
  // which the same request, with as many new tokens, needs no more than
  // `blocks` blocks; below 1: no prompt is short enough.
  int TokensThatFit(int known, int blocks) const;

  // Begins the draft of a step, for which `room` is; takes its part of that.
  void BeginDraft(DraftRoom& room);
  // Adds at most `rows` rows to the batch, and those of drafted tokens besides.
  // Blocks of the prompt that are in the
  // prefix cache are taken from there and need no rows. Returns the number of
  // rows whose logits the task wants; these are the last rows of the batch. The
  // task wants the logits of all rows of the decode phase, and of the rows of a
  // prompt that are to be scored.
  int Plan(BlockPool& pool, int rows, StepBatch& batch, StepCounts& counts);
  // To be called when the planned rows are computed: seals their full blocks,
  // for other requests.
  void Seal();
  // To be called when the task has taken its logits: each hypothesis takes over
  // the blocks of its parent. If the task begins other rows, gives all blocks
  // back, and drops rows of drafted tokens that do not follow. If the request
  // has reached a length at which earlier tokens have other rotary frequencies,
  // gives all blocks back; their rows are computed again.
  void FollowParents(StepCounts& counts);
  // Gives all memory of the context back; the rows are computed again.
  void Clear() {
    tables_.Clear();
    task_->Release();
  }
  // The tokens of the only hypothesis from number `tokens` on, which were
  // tentative, are replaced: their rows do not count.
  void Rewind(int tokens);

  // Hands the task the logits that it wants. Those that are not finite it does
  // not get, nor any after them. Any member of a team.
  void Take(absl::Span<const LogitsView> logits);
  bool finite() const { return finite_; }
  // OK, or why the task cannot go on.
  absl::Status status() const { return status_; }

 private:
  // The tokens of each hypothesis. The row of the last token has not been
  // computed yet.
  int Tokens() const { return static_cast<int>(task_->tokens(0).size()); }
  // See RotarySpec::FrequencyKind(); of rows computed when each hypothesis has
  // `tokens` tokens.
  int FrequencyKindAt(int tokens) const;
  ChainId Root() const {
    return ChainRoot(0, FrequencyKindAt(Tokens()), options_.salt);
  }
  // Rows of the prompt that are still to be computed: of one hypothesis, and of
  // all hypotheses.
  int PromptLeft(int hypothesis) const;
  int PromptLeft() const;
  // Blocks that the rest of the prompt takes.
  int PromptBlocks() const;
  // Called before the first rows of a request, or of its replay.
  void Begin(BlockPool& pool, StepCounts& counts);
  // The tokens whose rows come next, at most `rows`; empty if no row is left.
  absl::Span<const int> NextTokens(int hypothesis, bool decode, int rows,
                                   StepCounts& counts);
  void AddRows(int hypothesis, absl::Span<const int> tokens, StepBatch& batch);
  // The last token of the only hypothesis, and drafted tokens.
  absl::Span<const int> DraftedTokens(StepCounts& counts);
  // The beginning of the prompt that may come from the prefix cache. The rest
  // must be computed: rows whose logits are wanted, and at least one row.
  absl::Span<const int> SharedPrompt(int hypothesis) const;
  // Continues the hypothesis' table with sealed blocks of the prompt.
  void ShareSealed(int hypothesis, StepCounts& counts);
  // Replay: shares the full blocks of the longest beginning that the hypothesis
  // has in common with an earlier hypothesis, if that is longer than the
  // hypothesis' table.
  void ShareWithEarlier(int hypothesis);
  void SealTable(int hypothesis);

  const std::unique_ptr<DecoderTask> task_;
  const Options options_;
  const int given_;  // tokens at construction: prompt and forced prefix
  TableSet tables_;  // [max_hypotheses]
  int drafted_ = 0;  // rows of drafted tokens in this step
  bool drafted_by_model_ = false;
  bool finite_ = true;
  absl::Status status_;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DECODER_ROWS_H_
