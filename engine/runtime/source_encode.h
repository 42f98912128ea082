#ifndef ATTEND_ENGINE_RUNTIME_SOURCE_ENCODE_H_
#define ATTEND_ENGINE_RUNTIME_SOURCE_ENCODE_H_

#include <optional>
#include <vector>

#include "engine/api/engine.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/block_table.h"
#include "engine/runtime/step_batch.h"
#include "engine/transformer/encode_buffer.h"
#include "engine/transformer/encode_share.h"
#include "engine/transformer/encode_state.h"
#include "engine/transformer/transformer.h"

namespace attend {

// The source of a request: how far it is encoded, and the keys and values that
// a decoder attends to, which requests of the same source share. All memory but
// pool blocks and encode rows is reserved at construction.
class SourceEncode {
 public:
  struct Options {
    int block_tokens = 0;
    bool crosses = false;  // a decoder attends to it
    // Whether its keys and values are taken from other requests, and given to
    // them.
    bool shares = false;
  };
  // `tokens` have positions; `table_positions` as in EncodeState.
  // `transformer` must outlive this.
  SourceEncode(const Transformer& transformer, SourceTokens tokens,
               std::vector<int> table_positions, const Options& options);

  int tokens() const { return static_cast<int>(tokens_.ids.size()); }
  // What is left to encode; there must be something.
  Work Next() const;
  // Nothing is left, and the encode rows are given back.
  bool done() const { return done_; }
  // Blocks for the decoder: in the end, and what would be free without this.
  int max_blocks() const;
  int own_blocks() const;

  // Plans so many rows; the first time takes the memory. None if another
  // request has encoded this source: then nothing is left to do.
  std::optional<EncodePiece> Plan(EncodeBuffer& buffer, BlockPool& pool,
                                  int rows, StepCounts& counts);
  // After the step of that piece: whether it was the last.
  bool Encoded() const { return transformer_.Encoded(state_); }
  const EncodeState& state() const { return state_; }
  // When all of the encoder's output has been read: frees the encode rows.
  // Others may share what the decoder attends to.
  void Finish();
  // The batch's rows from `first_row` on attend to the source, which is done.
  void AddCross(int first_row, StepBatch& batch) const {
    batch.AddCross(first_row, cross_.blocks(), cross_.tokens());
  }
  // Gives all memory back; the source is encoded again.
  void Clear();

 private:
  int Blocks() const {
    return (tokens() + options_.block_tokens - 1) / options_.block_tokens;
  }
  // Sources are told apart by their ids.
  bool Shares() const {
    return options_.shares && options_.crosses && tokens_.types.empty() &&
           state_.key_positions().empty();
  }

  const Transformer& transformer_;
  const SourceTokens tokens_;
  const std::vector<int> table_positions_;
  const Options options_;
  EncodeState state_;
  BlockTable cross_;
  bool done_ = false;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_RUNTIME_SOURCE_ENCODE_H_
