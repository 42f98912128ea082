#ifndef ATTEND_ENGINE_RUNTIME_SOURCE_ENCODE_H_
#define ATTEND_ENGINE_RUNTIME_SOURCE_ENCODE_H_

#include <cstdint>
#include <memory>
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

// The source of a request: how far the source is encoded, and the blocks of the
// keys and values that cross-attention reads. Requests with the same source
// share these blocks. All memory but the pool's blocks and the encode buffer's
// rows is reserved at construction.
class SourceEncode {
 public:
  struct Options {
    int block_tokens = 0;
    bool for_decoder = false;  // a decoder attends to the source
    // Whether requests with the same source share blocks.
    bool shares = false;
    uint64_t salt = 0;  // see SaltOf()
    int adapter = -1;   // see EngineRequest
  };
  // Of tokens whose positions may be empty.
  static std::unique_ptr<SourceEncode> Make(const Transformer& transformer,
                                            SourceTokens tokens,
                                            const Options& options);
  // tokens.positions must not be empty. `table_positions`: see
  // EncodeState::Tokens. `transformer` must outlive the encode.
  SourceEncode(const Transformer& transformer, SourceTokens tokens,
               std::vector<int> table_positions, const Options& options);

  int tokens() const { return static_cast<int>(tokens_.ids.size()); }
  // The work that is left. The encode must not be done().
  Work Next() const;
  // True when no work is left and the rows of the encode buffer are given back.
  bool done() const { return done_; }
  // Blocks of the pool when the encode is done, and those of them that no other
  // request holds.
  int max_blocks() const;
  int own_blocks() const;

  // The piece of the next `rows` rows. The first call takes all memory. nullopt
  // if the blocks of this source are in the pool already: then the encode is
  // done().
  std::optional<EncodePiece> Plan(EncodeBuffer& buffer, BlockPool& pool,
                                  int rows, StepCounts& counts);
  // Whether all stages are computed.
  bool Encoded() const { return transformer_.Encoded(state_); }
  const EncodeState& state() const { return state_; }
  // To be called when the encoder's output has been read: gives the rows of the
  // encode buffer back, and seals the blocks of the source for other requests.
  void Finish();
  // Lets the batch's rows from `first_row` on attend to the source. The encode
  // must be done().
  void AddCross(int first_row, StepBatch& batch) const {
    batch.AddCross(first_row, cross_.blocks(), cross_.tokens());
  }
  // Asks for the weights with which one of these rows attends to the source,
  // [tokens()].
  void AddWeighed(int row, float* weights, StepBatch& batch) const {
    batch.AddWeighed(row, cross_.blocks(), cross_.tokens(), weights);
  }
  // Gives all memory back; the source is encoded again.
  void Clear();

 private:
  int Blocks() const {
    return (tokens() + options_.block_tokens - 1) / options_.block_tokens;
  }
  // A sealed source is found by its ids alone: types and positions must be the
  // usual ones.
  bool Shares() const {
    return options_.shares && options_.for_decoder && tokens_.types.empty() &&
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
