#ifndef ATTEND_ENGINE_RUNTIME_DECODER_ROWS_H_
#define ATTEND_ENGINE_RUNTIME_DECODER_ROWS_H_

#include <memory>

#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/table_set.h"
#include "engine/runtime/decoder_task.h"
#include "engine/runtime/step_batch.h"
#include "engine/transformer/spec.h"

namespace attend {

// The decoder rows of a request: how far each hypothesis is computed, where its
// keys and values lie, which rows come next, and what of them other requests
// share. All memory but pool blocks is reserved at construction.
class DecoderRows {
 public:
  struct Options {
    int block_tokens = 0;
    int max_hypotheses = 0;
    int max_tokens = 0;  // computed ones of the longest hypothesis
    // Whether rows of the same tokens are taken from other requests and given
    // to them: where they depend on nothing else.
    bool shares = false;
    // See StackSpec::RotaryByLength(). Must outlive this.
    const RotarySpec* by_length = nullptr;
  };
  DecoderRows(std::unique_ptr<DecoderTask> task, const Options& options);

  DecoderTask& task() { return *task_; }
  const DecoderTask& task() const { return *task_; }

  // What comes next, unless the task has finished.
  Work Next() const;
  int block_tokens() const { return options_.block_tokens; }
  // Blocks of the worst case, and what would be free without this.
  int max_blocks() const;
  int own_blocks() const { return tables_.own_blocks(); }
  // With as many tokens after the first `known` as it has, how many those could
  // be if it had so many blocks; below 1: none.
  int TokensThatFit(int known, int blocks) const;

  // Adds `rows` rows to the batch. The first ones take what the prefix cache
  // has of the prompt, which needs no row. Returns of how many of them, from
  // the last one backwards, the task wants logits: all of the decode phase, and
  // what is not scored yet.
  int Plan(BlockPool& pool, int rows, StepBatch& batch, StepCounts& counts);
  // When the rows planned are computed: other requests may share them.
  void Seal();
  // After the task has taken logits: lets each hypothesis continue the blocks
  // of the one it came from. Where the request has become so long that keys and
  // values of earlier tokens are others now, gives all blocks back; they are
  // computed again.
  void FollowParents();
  // Gives all blocks back; what they held is computed again.
  void Clear() { tables_.Clear(); }

 private:
  // Of each hypothesis; the last one is not computed yet.
  int Tokens() const { return static_cast<int>(task_->tokens(0).size()); }
  // Of rows that are computed while there are so many tokens.
  int KindAt(int tokens) const;
  ChainId Root() const { return ChainRoot(0, KindAt(Tokens())); }
  // Rows of the prompt that a hypothesis, or all of them, has still to compute.
  int PromptLeft(int hypothesis) const;
  int PromptLeft() const;
  int PromptBlocks() const;
  // The first rows of a request, or of its replay.
  void Begin(BlockPool& pool, StepCounts& counts);
  // The tokens whose rows come next, at most `rows`; none: nothing is left.
  absl::Span<const int> NextTokens(int hypothesis, bool decode, int rows,
                                   StepCounts& counts);
  void AddRows(int hypothesis, absl::Span<const int> tokens, StepBatch& batch);
  // What may come from the prefix cache: a row of the prompt is always
  // computed, and of what is to be scored those whose logits are wanted.
  absl::Span<const int> SharedPrompt(int hypothesis) const;
  // Takes what the prefix cache has of the prompt, after what is held of it.
  void ShareSealed(int hypothesis, StepCounts& counts);
  // Replay: takes over the full blocks that a hypothesis has in common with an
  // earlier one, if they are more than what it has.
  void ShareWithEarlier(int hypothesis);
  void SealTable(int hypothesis);

  const std::unique_ptr<DecoderTask> task_;
  const Options options_;
  const int given_;  // tokens that the request came with
  TableSet tables_;  // [max_hypotheses]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_DECODER_ROWS_H_
