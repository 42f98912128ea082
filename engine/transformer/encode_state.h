#ifndef ATTEND_ENGINE_TRANSFORMER_ENCODE_STATE_H_
#define ATTEND_ENGINE_TRANSFORMER_ENCODE_STATE_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/transformer/encode_buffer.h"

namespace attend {

// How far one source is encoded. A stage is a part of a layer. It begins when
// the stage before it is done for all rows of the source:
//   2 * layer      queries, keys and values of the layer
//   2 * layer + 1  attention and feed-forward
//   2 * layers     the final norm; keys and values for the decoder's
//                  cross-attention
// Holds blocks of an EncodeBuffer between Start() and Release().
class EncodeState {
 public:
  // The tokens of the source; each list is [rows]. Must outlive the state.
  struct Tokens {
    absl::Span<const int> ids;
    absl::Span<const int> positions;  // in the input, ascending
    // The positions that the embedding looks up, with
    // EmbeddingSpec::uncounted_id; empty: `positions`.
    absl::Span<const int> table_positions;
    absl::Span<const int> types;  // token types; empty: 0
    // The rows [0, attended) have keys that all rows see; 0: all rows have.
    int attended = 0;
    int adapter = -1;  // the number of the source's adapter; -1: none
  };
  // `max_blocks`: room for that many blocks is reserved.
  EncodeState(const Tokens& tokens, int max_blocks);
  ~EncodeState() { Release(); }
  EncodeState(const EncodeState&) = delete;
  EncodeState& operator=(const EncodeState&) = delete;

  // Takes blocks for all rows, which must be free, and begins the first stage.
  void Start(EncodeBuffer& buffer);
  // Gives the blocks back, if there are any.
  void Release();
  bool started() const { return buffer_ != nullptr; }

  int rows() const { return static_cast<int>(tokens_.ids.size()); }
  const Tokens& tokens() const { return tokens_; }
  // The rows whose keys are seen.
  int keys() const { return tokens_.attended > 0 ? tokens_.attended : rows(); }
  // Their positions; empty if they are 0, 1, 2, ...
  absl::Span<const int> key_positions() const {
    return has_holes_ ? tokens_.positions.subspan(0, keys())
                      : absl::Span<const int>();
  }
  int stage() const { return stage_; }
  int row() const { return row_; }  // the first row not done in this stage
  // Marks `rows` more rows as done. With the last row the next stage begins.
  void Advance(int rows);

  // The row's hidden state [width], which is the encoder's output once all
  // stages are done, and the row's query [width]; in the encode buffer.
  float* hidden(int row, int width) const;
  float* query(int row, int width) const;
  // The blocks of keys and values of the layer at hand.
  absl::Span<std::byte* const> kv() const { return kv_; }

 private:
  const Tokens tokens_;
  bool has_holes_ = false;
  EncodeBuffer* buffer_ = nullptr;
  std::vector<int> blocks_;
  std::vector<std::byte*> kv_;  // [blocks]
  int stage_ = 0;
  int row_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_ENCODE_STATE_H_
