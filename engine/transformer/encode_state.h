#ifndef ATTEND_ENGINE_TRANSFORMER_ENCODE_STATE_H_
#define ATTEND_ENGINE_TRANSFORMER_ENCODE_STATE_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "engine/transformer/encode_buffer.h"

namespace attend {

// How far one source has come through the encoder. A stage is a part of a
// layer that needs the stage before it finished for all rows of the source:
//   2 * layer      queries, keys and values of the layer
//   2 * layer + 1  attention and feed-forward
//   2 * layers     the final norm; keys and values for the decoder's
//                  cross-attention
// Holds chunks of an EncodeBuffer between Start() and Release().
class EncodeState {
 public:
  // Of the source, [rows]. They outlive the state.
  struct Tokens {
    absl::Span<const int> ids;
    absl::Span<const int> positions;  // in the input, ascending
    // In the embedding's table, where tokens are that it does not count; empty:
    // as in the input.
    absl::Span<const int> table_positions;
    absl::Span<const int> types;  // empty: 0
  };
  EncodeState(const Tokens& tokens, int max_chunks);
  ~EncodeState() { Release(); }
  EncodeState(const EncodeState&) = delete;
  EncodeState& operator=(const EncodeState&) = delete;

  // Takes its chunks, which must be free, and begins at the first stage.
  void Start(EncodeBuffer& buffer);
  // Gives the chunks back, if it holds any.
  void Release();
  bool started() const { return buffer_ != nullptr; }

  int rows() const { return static_cast<int>(tokens_.ids.size()); }
  const Tokens& tokens() const { return tokens_; }
  // Positions of all rows if they are not 0, 1, 2, ...; else empty.
  absl::Span<const int> key_positions() const {
    return has_holes_ ? tokens_.positions : absl::Span<const int>();
  }
  int stage() const { return stage_; }
  int row() const { return row_; }  // the first not done in this stage
  // Counts `rows` more as done; the last one begins the next stage.
  void Advance(int rows);

  // [width]; the encoder's output once all stages are done.
  float* hidden(int row, int width) const;
  float* query(int row, int width) const;
  absl::Span<std::byte* const> kv() const { return kv_; }

 private:
  const Tokens tokens_;
  bool has_holes_ = false;
  EncodeBuffer* buffer_ = nullptr;
  std::vector<int> chunks_;
  std::vector<std::byte*> kv_;  // one block a chunk
  int stage_ = 0;
  int row_ = 0;
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_ENCODE_STATE_H_
