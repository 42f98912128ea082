#include "engine/transformer/encode_buffer.h"

#include "engine/tensor/check.h"

namespace attend {

EncodeBuffer::EncodeBuffer(const KvLayout& layout, int rows, int hidden,
                           int query_width)
    : layout_(layout),
      blocks_(BlocksFor(rows)),
      hidden_width_(hidden),
      query_width_(query_width),
      hidden_at_(blocks_ * layout.block_bytes()),
      query_at_(hidden_at_ + sizeof(float) * total_rows() * hidden),
      memory_(query_at_ + sizeof(float) * total_rows() * query_width) {
  free_.reserve(blocks_);
  for (int block = blocks_ - 1; block >= 0; --block) free_.push_back(block);
}

int EncodeBuffer::Allocate() {
  ATTEND_CHECK(!free_.empty());
  const int block = free_.back();
  free_.pop_back();
  return block;
}

void EncodeBuffer::Release(int block) { free_.push_back(block); }

float* EncodeBuffer::hidden(int block) {
  return reinterpret_cast<float*>(memory_.data() + hidden_at_) +
         static_cast<size_t>(block) * block_rows() * hidden_width_;
}

float* EncodeBuffer::query(int block) {
  return reinterpret_cast<float*>(memory_.data() + query_at_) +
         static_cast<size_t>(block) * block_rows() * query_width_;
}

std::byte* EncodeBuffer::kv(int block) {
  return memory_.data() + block * layout_.block_bytes();
}

}  // namespace attend
