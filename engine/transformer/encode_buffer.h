#ifndef ATTEND_ENGINE_TRANSFORMER_ENCODE_BUFFER_H_
#define ATTEND_ENGINE_TRANSFORMER_ENCODE_BUFFER_H_

#include <cstddef>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "engine/tensor/buffer.h"

namespace attend {

// What encodes under way keep between steps, so that an encode can be cut
// anywhere: for each row of a source its hidden state, and its query, key and
// value of the layer being computed. Handed out in chunks of
// kv_layout().block_tokens rows. One worker's.
class EncodeBuffer {
 public:
  // `layout` is of one layer; capacity is `rows`, rounded up to chunks.
  EncodeBuffer(const KvLayout& layout, int rows, int hidden, int query_width);

  const KvLayout& kv_layout() const { return layout_; }
  int chunk_rows() const { return layout_.block_tokens; }
  int total_rows() const { return chunks_ * chunk_rows(); }
  int free_rows() const {
    return static_cast<int>(free_.size()) * chunk_rows();
  }
  int ChunksFor(int rows) const {
    return (rows + chunk_rows() - 1) / chunk_rows();
  }

  // A chunk that was free; there must be one.
  int Allocate();
  void Release(int chunk);

  float* hidden(int chunk);  // [chunk_rows, hidden]
  float* query(int chunk);   // [chunk_rows, query_width]
  std::byte* kv(int chunk);  // one block of kv_layout()

 private:
  KvLayout layout_;
  int chunks_;
  int hidden_width_;
  int query_width_;
  Buffer<float> hidden_;   // [chunks, chunk_rows, hidden]
  Buffer<float> query_;    // [chunks, chunk_rows, query_width]
  Buffer<std::byte> kv_;   // [chunks, block_bytes]
  std::vector<int> free_;  // a stack: the last one used is warm in cache
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_ENCODE_BUFFER_H_
