#ifndef ATTEND_ENGINE_TRANSFORMER_ENCODE_BUFFER_H_
#define ATTEND_ENGINE_TRANSFORMER_ENCODE_BUFFER_H_

#include <cstddef>
#include <vector>

#include "engine/ops/attention/kv_layout.h"
#include "engine/tensor/buffer.h"

namespace attend {

// The memory of encodes between steps: for each row of a source the hidden
// state, and the query, key and value of the layer at hand. So an encode can be
// cut after any row. The buffer consists of blocks of kv_layout().block_tokens
// rows. Belongs to one worker. Nothing is allocated after construction.
class EncodeBuffer {
 public:
  // `layout` is of one layer. The buffer has `rows` rows, rounded up to blocks.
  EncodeBuffer(const KvLayout& layout, int rows, int hidden, int query_width);

  const KvLayout& kv_layout() const { return layout_; }
  int block_rows() const { return layout_.block_tokens; }
  int total_rows() const { return blocks_ * block_rows(); }
  int free_rows() const {
    return static_cast<int>(free_.size()) * block_rows();
  }
  int BlocksFor(int rows) const {
    return (rows + block_rows() - 1) / block_rows();
  }

  // Takes a free block; there must be one.
  int Allocate();
  void Release(int block);

  float* hidden(int block);  // [block_rows, hidden]
  float* query(int block);   // [block_rows, query_width]
  std::byte* kv(int block);  // one block of kv_layout()

 private:
  KvLayout layout_;
  int blocks_;
  int hidden_width_;
  int query_width_;
  // Where hidden states and queries begin, in bytes.
  size_t hidden_at_;
  size_t query_at_;
  // One buffer, so that it is large enough for huge pages:
  //   keys and values  [blocks, block_bytes]
  //   hidden states    [blocks, block_rows, hidden]
  //   queries          [blocks, block_rows, query_width]
  Buffer<std::byte> memory_;
  std::vector<int> free_;  // a stack: the block used last may be in cache
};

}  // namespace attend

#endif  // ATTEND_ENGINE_TRANSFORMER_ENCODE_BUFFER_H_
