#include "engine/transformer/encode_buffer.h"

#include "engine/tensor/check.h"

namespace attend {

EncodeBuffer::EncodeBuffer(const KvLayout& layout, int rows, int hidden,
                           int query_width)
    : layout_(layout),
      blocks_(BlocksFor(rows)),
      hidden_width_(hidden),
      query_width_(query_width),
      hidden_(static_cast<size_t>(total_rows()) * hidden),
      query_(static_cast<size_t>(total_rows()) * query_width),
      kv_(blocks_ * layout.block_bytes()) {
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
  return hidden_.data() +
         static_cast<size_t>(block) * block_rows() * hidden_width_;
}

float* EncodeBuffer::query(int block) {
  return query_.data() +
         static_cast<size_t>(block) * block_rows() * query_width_;
}

std::byte* EncodeBuffer::kv(int block) {
  return kv_.data() + block * layout_.block_bytes();
}

}  // namespace attend
