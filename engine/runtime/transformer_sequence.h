#ifndef ATTEND_ENGINE_RUNTIME_TRANSFORMER_SEQUENCE_H_
#define ATTEND_ENGINE_RUNTIME_TRANSFORMER_SEQUENCE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "engine/api/engine.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"
#include "engine/cache/table_set.h"
#include "engine/decoding/scorer.h"
#include "engine/decoding/search.h"
#include "engine/ops/logits/logits_view.h"
#include "engine/runtime/encoder_task.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/transformer.h"

namespace attend {

// The state of one request on a transformer: how far its source is encoded,
// where its keys and values lie, and the search (or scorer, or encoder's task)
// that its results go to. All of its memory but pool blocks and encode rows is
// reserved at construction.
class TransformerSequence : public Sequence {
 public:
  // What a request becomes: one of `search`, `scorer` and `encoder_task` is
  // set, or the first two: then the scorer's target is what follows the first
  // token of the search's prompt.
  struct Parts {
    SourceTokens source;  // positions filled; empty where there is a prompt
    std::vector<int> table_positions;  // see EncodeState
    std::unique_ptr<Search> search;
    std::unique_ptr<Scorer> scorer;
    std::unique_ptr<EncoderTask> encoder_task;
    // Decoder tokens that are known: prompt or decoder start, then the forced
    // prefix, or the target to score but for its last token.
    std::vector<int> prompt;
    int max_target_tokens = 0;  // decoder rows of the longest result
    int max_hypotheses = 0;
    // Whether it shares with other requests what the encoder makes of the same
    // source or, without an encoder, decoder rows of the same beginning.
    bool prefix_cache = false;
  };
  // `transformer` must outlive the sequence.
  TransformerSequence(const Transformer& transformer, int block_tokens,
                      Parts parts);

  Work Next() const override;
  const SequenceOutput& output() const override;
  int max_blocks() const override;
  int blocks() const override;
  // The longest source or prompt with which the request, whose own has
  // `tokens`, fits so many blocks; below 1: none.
  int TokensThatFit(int tokens, int blocks) const;

  // Gives all memory back; what was computed is computed again.
  void Preempt();

  // Plans `rows` rows of the encode phase; the first time takes the memory.
  // None if another request has encoded this source: then nothing is left to
  // do of that phase.
  std::optional<EncodePiece> PlanEncode(EncodeBuffer& buffer, BlockPool& pool,
                                        int rows, StepCounts& counts);
  // After the step of that piece: whether it was the last.
  bool Encoded() const { return transformer_.Encoded(encode_); }
  // The task of a request that ends here, and what it is about; null if there
  // is none.
  EncoderTask* encoder_task() { return encoder_task_.get(); }
  const EncodeState& encode() const { return encode_; }
  // When all of the encoder's output has been read: frees the encode rows.
  // Others may share what the decoder attends to.
  void FinishEncode();

  // The lists of a pass to which decoder rows are added.
  struct RowLists {
    std::vector<int>& ids;
    std::vector<int>& positions;
    std::vector<int>& lengths;
    std::vector<KvWrite>& writes;
    std::vector<AttentionPiece>& self_pieces;
    std::vector<AttentionPiece>& cross_pieces;
    StepCounts& counts;
  };
  // Adds `rows` rows of the prompt or decode phase; the first ones of a request
  // without an encode take the memory, and what the prefix cache has of it; of
  // a prompt, what is found needs no row. Returns how many of them, from the
  // last one backwards, have logits that are wanted: all decode rows, and what
  // is not scored yet of a target or a prompt to score.
  int PlanRows(BlockPool& pool, int rows, RowLists lists);

  // When the rows planned are computed: other requests may share them.
  void Seal();

  // What the next TakeLogits() will ask of the logits of its row `row`.
  LogitsNeed need(int row) const;
  // Takes the logits of the rows planned, in their order; a prompt to score
  // may come in parts. Other sequences may do so on other threads.
  void TakeLogits(absl::Span<const LogitsView> logits);
  // After TakeLogits(), on the worker's thread: lets each hypothesis continue
  // the blocks of the one it came from. Where the request has become so long
  // that keys and values of earlier tokens are others now, gives all blocks
  // back; they are computed again.
  void FinishRows();

 private:
  int BlocksFor(int tokens) const {
    return (tokens + block_tokens_ - 1) / block_tokens_;
  }
  int SourceBlocks() const {
    return BlocksFor(static_cast<int>(source_.ids.size()));
  }
  // Makes the tables, which are empty, use the pool's blocks.
  void Attach(BlockPool& pool);
  // Of the source's keys and values; who does not decode needs none.
  int CrossBlocks() const {
    return encoder_task_ != nullptr ? 0 : SourceBlocks();
  }
  // Decoder rows depend on decoder tokens alone where nothing is encoded.
  bool SharesPrompt() const { return prefix_cache_ && source_.ids.empty(); }
  // Sources are told apart by their ids.
  bool SharesSource() const {
    return prefix_cache_ && CrossBlocks() > 0 && source_.types.empty() &&
           encode_.key_positions().empty();
  }
  // Decoder tokens of a hypothesis that are computed without a choice after
  // them: all but the last, or all of a target to score.
  absl::Span<const int> Prompt(int row) const;
  int Hypotheses() const;
  // Of each hypothesis, the last of which is not computed yet.
  int Tokens() const;
  // Of rows that are computed while there are so many tokens.
  int KindAt(int tokens) const;
  ChainId Root() const { return ChainRoot(0, KindAt(Tokens())); }
  int PromptRowsLeft() const;
  int PromptBlocks() const;
  // What may come from the prefix cache: a row of the prompt is always
  // computed, and of what is to be scored those whose logits are wanted.
  absl::Span<const int> SharedPrompt(int row) const;
  // Takes what the prefix cache has of the prompt, after what is held of it.
  void ShareSealed(int row, StepCounts& counts);
  void SealTable(int row);
  // Replay: hypothesis `row` takes over the full blocks that it has in common
  // with an earlier one, if they are more than what it has.
  void SharePrefix(int row);
  void PlanRow(int row, absl::Span<const int> tokens, RowLists lists);

  const Transformer& transformer_;
  const int block_tokens_;
  const SourceTokens source_;
  const std::vector<int> table_positions_;
  const std::unique_ptr<Search> search_;
  std::unique_ptr<Scorer> scorer_;  // beside a search until it has ended
  const std::unique_ptr<EncoderTask> encoder_task_;
  const std::vector<int> known_;  // decoder tokens that the request came with
  const int max_target_tokens_;
  const int max_hypotheses_;
  const bool prefix_cache_;
  const RotarySpec* const by_length_;  // see StackSpec::RotaryByLength()
  const int given_;                    // tokens that the request came with

  EncodeState encode_;
  bool encoded_ = false;  // or there is nothing to encode
  BlockTable cross_;
  TableSet tables_;  // [max_hypotheses]
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_TRANSFORMER_SEQUENCE_H_
